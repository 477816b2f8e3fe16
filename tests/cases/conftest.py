"""The compiled apps of the field cases, and a place to run them in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ..support import Bundles


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return Bundles(shared / "bundles")


@pytest.fixture
def words_app(tmp_path: Path) -> Path:
    """Word count as a folder, to be compiled by the test."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "map.c").write_text((Path(__file__).parent / "programs" / "words.c").read_text())
    return folder
