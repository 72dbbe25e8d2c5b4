"""The language reference keeps its word: its rubric lints clean, and its lists are the code's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from judgekit.rubric.form import FIELD_TYPES, SCORE_KINDS, TOP_KEYS
from judgekit.rubric.lint import FINDINGS, lint_file

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rubrics.md"


def test_the_complete_rubric_lints_clean(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    path = tmp_path / "warns-of-emergency.yaml"
    path.write_text(text, "utf-8")
    assert [str(finding) for finding in lint_file(path)] == []


def test_every_key_type_and_score_is_described() -> None:
    page = PAGE.read_text("utf-8")
    for word in (*TOP_KEYS, *(f"{{{kind}:" for kind in (*FIELD_TYPES, *SCORE_KINDS))):
        assert word in page, word


def test_every_lint_code_is_described() -> None:
    page = PAGE.read_text("utf-8")
    codes = set(FINDINGS)
    assert len(codes) > 20
    assert {code for code in codes if f"`{code}`" not in page} == set()
    assert {
        code for code in re.findall(r"`([a-z]+-[a-z-]+)`", page.split("## What the lint says")[1]) if code not in codes
    } == set()


def test_the_pages_of_the_shipped_rubrics_are_the_generated_ones() -> None:
    # To renew them: python docs/make_rubrics.py
    made = subprocess.run([sys.executable, str(PAGE.parent / "make_rubrics.py"), "--check"], check=False)
    assert made.returncode == 0
