from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.errors import InputError
from judgekit.paths import written_whole


def test_a_file_is_written_whole_or_left_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("before")
    with pytest.raises(UnicodeEncodeError), written_whole(target, "the text") as place:
        place.write_text("half, then \ud800", "utf-8")
    assert target.read_text() == "before"
    with written_whole(target, "the text") as place:
        place.write_text("after")
        assert target.read_text() == "before"
    assert target.read_text() == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"nowhere.*the text cannot be written \(No such file"),
        written_whole(tmp_path / "nowhere" / "out.txt", "the text"),
    ):
        pass
