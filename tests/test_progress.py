"""Progress off a terminal: a log that stays short, and ends with where things stand."""

from __future__ import annotations

import io
import time

import pytest

from judgekit.progress import Progress


def test_off_a_terminal_lines_are_ten_seconds_apart_and_a_last_one_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    # 40 judgements, one every 4 s: 160 s. A line each time 10 s have passed since the last one, so at every third judgement
    # (12 s): 13 lines at 3, 6, ... 39, and the last one at 40.
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Progress(40, stream=stream) as progress:
        for _ in range(40):
            now[0] += 4.0
            progress.judged("ok")
    lines = stream.getvalue().splitlines()
    assert [line.split("/")[0] for line in lines] == [*map(str, range(3, 40, 3)), "40"]
    assert lines[-1].startswith("40/40 done")


def test_quiet_says_nothing_but_notes() -> None:
    stream = io.StringIO()
    with Progress(1, stream=stream, quiet=True) as progress:
        progress.judged("ok")
        progress.note("a note")
    assert stream.getvalue() == "a note\n"
