"""The text itself: word count's kernels as they are to be read, and that the same program gives the same text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .kernels import HERE, ROOT, emit

GOLDEN = HERE / "golden"


def wordcount(name: str) -> str:
    """From the project's folder, so that the paths in the text are those of the golden files."""
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        return emit(Path("apps") / "wordcount" / f"{name}.c").text
    finally:
        os.chdir(here)


@pytest.mark.parametrize("name", ["map", "combine"])
def test_word_count(name: str) -> None:
    """A change that is meant: HD_GOLDEN=write makes the files again."""
    text, path = wordcount(name), GOLDEN / f"wordcount_{name}.cu"
    if os.environ.get("HD_GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", ["map", "combine"])
def test_the_text_is_deterministic_and_tidy(name: str) -> None:
    text = wordcount(name)
    assert wordcount(name) == text
    lines = text.split("\n")
    assert "\n\n\n" not in text and all(line == line.rstrip() for line in lines)


def test_lines_lead_back_to_the_source() -> None:
    """Every statement stands under the number that it has in the user's file."""
    source = (ROOT / "apps" / "wordcount" / "map.c").read_text().splitlines()
    number, file, seen = 0, "", 0
    for line in wordcount("map").splitlines():
        if line.startswith("#line"):
            _, shown, file = line.split()
            number = int(shown) - 1
            continue
        number += 1
        if file == '"apps/wordcount/map.c"' and line.strip().startswith(("while", "if", "return", "offset =")):
            assert line.split()[0].strip("(") == source[number - 1].split()[0].strip("("), (number, line)
            seen += 1
    assert seen >= 6
