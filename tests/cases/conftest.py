"""An app to compile, for the field cases of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def words_app(tmp_path: Path) -> Path:
    """Word count as a folder, to be compiled by the test."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "map.c").write_text((Path(__file__).parent / "programs" / "words.c").read_text())
    return folder
