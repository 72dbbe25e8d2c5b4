"""Fixtures that every room's tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.judging.provider import Provider

ROOT = Path(__file__).resolve().parents[1]

# A deadline on the wall clock fails a right test on a machine that is busy with something else.
settings.register_profile("judgekit", deadline=None)
settings.load_profile("judgekit")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real, clinician-labelled data; tests that need it skip where it is absent."""
    place = Path(os.environ.get("JUDGEKIT_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not place.is_dir():
        pytest.skip(f"no shared data at {place}: set JUDGEKIT_SHARED_DATA to the folder that holds it")
    return place


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A scripted OpenAI-compatible server over real HTTP (see tests/judging/provider.py)."""
    server = Provider().start()
    yield server
    server.stop()
