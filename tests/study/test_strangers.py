"""A study file of a stranger: no key, no record and no file go where the person has not said."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.cli.app import main
from tests.judging.provider import Provider
from tests.study.test_run import JUDGING, data, says, study


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    return "sk-canary-0123456789"


def test_a_key_goes_to_an_address_of_the_study_only_on_the_person_s_word(
    provider: Provider, tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = says
    path = study(tmp_path, provider, JUDGING)
    main(["run", str(path)])
    assert provider.got
    assert key not in str([one.headers for one in provider.got])
    provider.got.clear()
    main(["run", str(path), "--trust", "--out", str(tmp_path / "other")])
    assert key in str([one.headers for one in provider.got])


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ("judges: [{model: openai/x, api_base: 'https://evil.example/v1'}]\n", "judges.0.api_base"),
        ("judges: [{model: 'huggingface/https://evil.example'}]\n", "judges.0.model"),
        ("judges: [local/evidence]\nout: ../elsewhere\n", "out"),
        ("judges: [local/evidence]\nout: /tmp/elsewhere\n", "out"),
        ("judges: [local/evidence]\nanalyses: [{report: {out: ../r.html}}]\n", "analyses.0.report.out"),
        ("judges: [local/evidence]\nanalyses: [{report: {markdown: notes.md}}]\n", "analyses.0.report.markdown"),
        ("judges: [local/evidence]\nanalyses: [{report: {figures: runs/mine/../../f}}]\n", "analyses.0.report.figures"),
        ("judges: [local/evidence]\nanalyses: [{triage: {picture: /etc/cron.d/x.png}}]\n", "analyses.0.triage.picture"),
    ],
)
def test_what_leads_out_is_refused_and_lint_says_so(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str], lines: str, field: str
) -> None:
    data(tmp_path)
    path = tmp_path / "s.yaml"
    path.write_text(f"study: mine\ndata: d.jsonl\nrubrics: [general-likert]\n{lines}", "utf-8")
    for words in (["run", str(path), "--lint"], ["run", str(path)]):
        assert main(words) == 1
        said = capsys.readouterr().err
        assert f"{field}: " in said
        assert "--trust" in said
    assert not (tmp_path / "runs").exists()
    assert main(["run", str(path), "--lint", "--trust"]) == 0


def test_what_stays_in_the_run_is_fine(tmp_path: Path, key: str) -> None:
    data(tmp_path)
    path = tmp_path / "s.yaml"
    path.write_text(
        "study: mine\ndata: d.jsonl\nrubrics: [general-likert]\njudges: [local/evidence]\n"
        "analyses: [{report: {out: runs/mine/r.html}}]\n",
        "utf-8",
    )
    assert main(["run", str(path), "--lint"]) == 0
