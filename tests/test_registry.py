"""Other packages' parts: one that is broken is named once and left out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judgekit import registry
from judgekit.cli.app import main
from judgekit.errors import UsageError
from judgekit.metrics.base import available, parse_metric

GOOD = """
from dataclasses import dataclass
from typing import ClassVar
from judgekit.metrics.base import Measurement, Metric

@dataclass(frozen=True)
class One(Metric):
    name: ClassVar[str] = "always_one"
    summary: ClassVar[str] = "One."

    def measure(self, records):
        return [Measurement(1.0) for record in records]

METRIC = One
"""
BROKEN = {
    "raises": "raise RuntimeError('no licence here')",
    "lacks": "import a_package_that_is_nowhere",
    "syntax": "def (",
    "wrong": "METRIC = 7",
    "empty": "",
}


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    def install(sources: dict[str, str]) -> None:
        for name, source in sources.items():
            (tmp_path / f"plug_{name}.py").write_text(source)
            monkeypatch.delitem(sys.modules, f"plug_{name}", raising=False)
        info = tmp_path / "plug-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
        points = "".join(f"{name} = plug_{name}\n" for name in sources)
        (info / "entry_points.txt").write_text(f"[judgekit.metrics]\n{points}[judgekit.library]\nx = nowhere.at_all\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(registry, "_LEFT_OUT", {})

    return install


@pytest.mark.parametrize("kind", list(BROKEN))
def test_a_broken_metric_of_another_package_is_named_once_and_stops_nothing(
    kind: str, plugins: Callable[[dict[str, str]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugins({kind: BROKEN[kind], "good": GOOD})
    assert main(["metric", "list", "--json"]) == 0
    said = capsys.readouterr()
    names = [row["name"] for row in json.loads(said.out)["metrics"]]
    assert "always_one" in names
    assert "token_f1" in names
    assert said.err.count(f"note: {kind} of the entry point group judgekit.metrics is left out") == 1
    data = tmp_path / "d.jsonl"
    data.write_text(json.dumps({"id": "1", "reference": "Rest.", "response": "Rest."}))
    assert main(["measure", str(data), "--metric", "token_f1", "--out", str(tmp_path / "run"), "--json"]) == 0
    assert kind not in capsys.readouterr().err  # once is enough
    assert list(available()) == names
    with pytest.raises(UsageError, match=f"could not be loaded: {kind}"):
        parse_metric("my_metric")


def test_a_library_that_cannot_be_found_is_left_out_too(
    plugins: Callable[[dict[str, str]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    plugins({})
    assert len(registry.library_roots()) == len(registry.library_roots()) >= 1
    assert "judgekit.library" in capsys.readouterr().err
