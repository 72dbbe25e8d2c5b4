"""The scripted provider itself: what the other tests lean on."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.judging.provider import Provider, Say


def ask(provider: Provider, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"{provider.base}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)


def test_a_list_is_played_in_order_and_its_last_reply_repeats(provider: Provider) -> None:
    provider.script = ["one", Say("two", usage=None)]
    replies = [ask(provider, {"messages": [], "n": i}) for i in range(3)]
    assert [reply["choices"][0]["message"]["content"] for reply in replies] == ["one", "two", "two"]
    assert "usage" in replies[0]
    assert "usage" not in replies[1]
    assert [body["n"] for body in provider.bodies] == [0, 1, 2]


def test_a_function_sees_the_body_and_the_count_and_errors_carry_headers(provider: Provider) -> None:
    provider.script = lambda body, n: (
        Say("slow down", status=429, headers={"Retry-After": "7"}) if n == 0 else body["model"]
    )
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(provider, {"model": "m"})
    assert caught.value.code == 429
    assert caught.value.headers["Retry-After"] == "7"
    assert ask(provider, {"model": "m"})["choices"][0]["message"]["content"] == "m"


def test_the_high_water_mark_counts_requests_in_flight(provider: Provider) -> None:
    provider.script = Say("x", delay=0.3)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: ask(provider, {"i": i}), range(4)))
    assert provider.high_water == 4
    assert provider.count == 4
