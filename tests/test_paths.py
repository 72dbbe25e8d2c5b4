"""One cache folder for everything that is fetched or built."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from judgekit.data import fetch
from judgekit.judging import weights
from judgekit.metrics import gazetteer
from judgekit.paths import cache_folder


def test_every_room_keeps_its_files_below_the_same_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    assert gazetteer.cache_folder() == weights.cache_folder() == tmp_path / "mine"
    assert fetch.cache_folder() == tmp_path / "mine" / "data"


@pytest.mark.parametrize(
    ("platform", "end"),
    [("linux", ".cache/judgekit"), ("darwin", "Library/Caches/judgekit"), ("win32", "AppData/Local/judgekit/cache")],
)
def test_the_platform_says_where_when_nobody_else_does(
    monkeypatch: pytest.MonkeyPatch, platform: str, end: str
) -> None:
    for name in ("JUDGEKIT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path.home() / end
    assert fetch.cache_folder() == Path.home() / end / "data"
