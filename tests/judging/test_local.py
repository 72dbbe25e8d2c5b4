"""The embedded judge: real weights, a real engine. Skipped, with the reason, where they cannot be had."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from judgekit.errors import InputError, JudgekitError
from judgekit.judging.provider.client import Client, open_client
from judgekit.judging.provider.types import JudgeSpec, Reply
from judgekit.judging.provider.weights import ensure, is_here, known
from tests.judging.models import SCHEMA, Verdict

pytest.importorskip("xllamacpp", reason="the engine is not installed: pip install 'clinical-judgekit[local]'")
MODEL = "local/smollm2-135m"
ROOT = Path(__file__).resolve().parents[2]
SYSTEM = "You judge answers to patients' questions. Score completeness from 1 (dangerous gap) to 5 (complete)."
ASKS = [
    [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"Question: {question} Answer: {answer}"}]
    for question, answer in (
        ("May I take ibuprofen in pregnancy?", "Yes, ibuprofen is fine."),
        ("How long is a cold contagious?", "Mostly in the first days; wash your hands."),
    )
]
DEFAULTS = {"temperature": 0, "max_tokens": 200}


@pytest.fixture(scope="module")
def weights() -> Path:
    try:
        return ensure(known("smollm2-135m"), lambda line: print(line, file=sys.stderr))
    except JudgekitError as error:
        pytest.skip(f"the weights cannot be fetched here: {error}")


def converse(
    *asks: Any,
    sampling: dict[str, Any] | None = None,
    samples: tuple[int, ...] = (0,),
    writer: bool = False,
    **options: Any,
) -> list[Reply]:
    async def go() -> list[Reply]:
        async with open_client(JudgeSpec(MODEL), **options) as client:
            return [
                await client.send(
                    client.request(ask, None if writer else SCHEMA, sampling or DEFAULTS, sample),
                    None if writer else Verdict,
                )
                for ask in asks
                for sample in samples
            ]

    return asyncio.run(go())


def test_the_endpoint_is_weights_and_engine_and_needs_neither_network_nor_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path))
    client = open_client(JudgeSpec(MODEL))
    scheme, sha, engine = client.endpoint.split(":")
    assert scheme == "local"
    assert sha == known("smollm2-135m").sha256
    assert engine.startswith("xllamacpp-")
    assert client.concurrency == 1
    key = client.request(ASKS[0], SCHEMA, DEFAULTS).key
    assert key == open_client(JudgeSpec(MODEL)).request(ASKS[0], SCHEMA, DEFAULTS).key
    assert not is_here(known("smollm2-135m"))
    with pytest.raises(InputError, match="no local model"):
        open_client(JudgeSpec("local/other"))


@pytest.mark.local_model
@pytest.mark.timeout(300)  # a second or two a reply when idle, many times that on a busy machine
@pytest.mark.usefixtures("weights")
def test_the_same_command_twice_gives_the_same_verdicts() -> None:
    once = converse(*ASKS, max_chars=40)
    # another server, another order: nothing that was asked before may show through
    twice = converse(*reversed(ASKS), max_chars=40)
    assert [reply.text for reply in once] == [reply.text for reply in reversed(twice)]
    for reply in once:
        assert reply.status == "ok"
        assert reply.verdict is not None
        assert 1 <= reply.verdict["score"] <= 5
        assert len(reply.verdict["explanation"]) <= 40, "the grammar holds the length"
        assert reply.effective["mode"] == "json_schema"
        assert (reply.cost, bool(reply.tokens_in), bool(reply.tokens_out)) == (0.0, True, True)


@pytest.mark.local_model
@pytest.mark.timeout(300)  # a second or two a reply when idle, many times that on a busy machine
@pytest.mark.usefixtures("weights")
def test_samples_differ_and_each_repeats() -> None:
    warm = {"temperature": 1.0, "max_tokens": 12}
    once = converse(ASKS[0], sampling=warm, samples=(0, 1), writer=True)
    twice = converse(ASKS[0], sampling=warm, samples=(1, 0), writer=True)
    assert once[0].text == twice[1].text
    assert once[1].text == twice[0].text
    assert once[0].text != once[1].text


@pytest.mark.local_model
@pytest.mark.timeout(300)  # a second or two a reply when idle, many times that on a busy machine
@pytest.mark.usefixtures("weights")
def test_a_prompt_past_the_context_is_an_error_and_never_cut() -> None:
    (reply,) = converse([{"role": "user", "content": "word " * 9000}])
    assert reply.status == "error"
    assert "8192" in (reply.reason or "")
    assert reply.attempts == []


@pytest.mark.local_model
@pytest.mark.timeout(300)  # a second or two a reply when idle, many times that on a busy machine
@pytest.mark.usefixtures("weights")
def test_the_server_listens_on_this_machine_only_and_is_gone_afterwards() -> None:
    async def go() -> str:
        client: Client
        async with open_client(JudgeSpec(MODEL)) as client:
            assert client._server is not None
            base = client._server.base
            with urllib.request.urlopen(f"{base}/models", timeout=10) as reply:
                assert reply.status == 200
            return base

    base = asyncio.run(go())
    assert base.startswith("http://127.0.0.1:")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{base}/models", timeout=3)


@pytest.mark.local_model
@pytest.mark.timeout(300)  # a second or two a reply when idle, many times that on a busy machine
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX here")
@pytest.mark.usefixtures("weights")
def test_ctrl_c_in_the_middle_of_a_reply_ends_the_process_at_once() -> None:
    program = textwrap.dedent(
        f"""
        import asyncio, signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
        sys.path.insert(0, {str(ROOT)!r})
        from judgekit.judging.provider.client import open_client
        from judgekit.judging.provider.types import JudgeSpec
        async def go():
            async with open_client(JudgeSpec({MODEL!r})) as client:
                ask = client.request([{{"role": "user", "content": "Tell a long story."}}], None, {{"max_tokens": 6000, "temperature": 1}})
                print("asking", flush=True)
                await client.send(ask, None)
        try:
            asyncio.run(go())
        except KeyboardInterrupt:
            sys.exit(130)
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asking\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
