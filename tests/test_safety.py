"""Key values never pass into what is kept or shown; addresses of this machine are told from others."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.safety import (
    LOCAL_ONLY,
    known_secrets,
    local_only,
    looks_secret,
    strike,
    without_secrets,
    words_without_secrets,
)

KEY = "sk-canary/0123456789"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True), ("HF_TOKEN", True), ("AWS_SECRET_ACCESS_KEY", True), ("DB_PASSWORD", True), ("--api-key", True),
        ("accessToken", True), ("GOOGLE_CREDENTIALS", True), ("sig", True), ("KEY_2", True),
        ("MAX_TOKENS", False), ("max_tokens", False), ("KEYBOARD", False), ("PWD", False), ("TOKENIZERS_PARALLELISM", False),
        ("monkey", False), ("--concurrency", False),
    ],
)  # fmt: skip
def test_a_name_says_whether_its_value_is_a_key(name: str, secret: bool) -> None:
    assert looks_secret(name) is secret


def test_values_are_known_in_every_coat_and_short_ones_and_paths_are_left_alone() -> None:
    env = {
        "OPENAI_API_KEY": KEY,
        "A_KEY": "short",
        "KEY_FILE": "/home/me/key.pem",
        "HTTPS_PROXY": "http://u:proxy-pass@h:1",
    }
    known = known_secrets(["https://me:p%40ss@host/v1?api-key=query-key&x=1", None], env)
    for secret in (
        KEY,
        quote(KEY, safe=""),
        base64.b64encode(KEY.encode()).decode(),
        "proxy-pass",
        "p%40ss",
        "p@ss",
        "query-key",
    ):
        assert secret in known
    assert not {"short", "/home/me/key.pem", "me", "host"} & set(known)


@given(st.text(), st.text())
def test_no_secret_is_left_in_any_text_however_deep(before: str, after: str) -> None:
    known = known_secrets((), {"API_KEY": KEY})
    struck = strike({"a": [before + KEY + after, {KEY: (quote(KEY, safe=""),)}], "n": 1}, known)
    assert KEY not in repr(struck)
    assert quote(KEY, safe="") not in repr(struck)
    assert struck["n"] == 1


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["judgekit", "--api-base", "http://u:p@h/v1"], ["judgekit", "--api-base", "http://***@h/v1"]),
        (["--api-base=https://token@h/v1?api_key=abc&n=2"], ["--api-base=https://***@h/v1?api_key=***&n=2"]),
        (["x.py", "--api-key", "abc", "--n", "3"], ["x.py", "--api-key", "***", "--n", "3"]),
        (["--api-key=abc"], ["--api-key=***"]),
        (["--header", "Authorization: Bearer abcdefgh"], ["--header", "Authorization: Bearer ***"]),
        (["--endpoint", f"my-{KEY}"], ["--endpoint", "my-***"]),
        (["--max-tokens", "200", "--rubric", "key-points"], ["--max-tokens", "200", "--rubric", "key-points"]),
    ],
)
def test_a_command_line_is_kept_without_its_keys(
    words: list[str], kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert words_without_secrets(words) == kept


def test_an_ordinary_text_is_left_as_it_is() -> None:
    for text in ("data/answers.jsonl", "a patient's key question: 5 mg?", "http://127.0.0.1:8000/v1", "n=3"):
        assert without_secrets(text) == text


@pytest.mark.parametrize(
    ("value", "on"), [("1", True), ("yes", True), ("true", True), ("0", False), ("", False), ("no", False)]
)
def test_a_whole_site_may_be_local_only(value: str, on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOCAL_ONLY, value)
    assert local_only() is on
    assert local_only(True)
