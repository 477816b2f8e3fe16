"""The text itself: word count's kernels as they are to be read, and that the same program gives the same text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heterodoop.compiler.emit.stmt import wrapped

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


def test_every_place_of_a_variable_has_its_spelling() -> None:
    """places.c has one variable of each kind; `decisions` says where it lies, the text reads it there."""
    text = emit(HERE / "programs" / "places.c").text
    for line in (
        'static __device__ const char *const suffix[4] = {"th", "st", "nd", "rd"};',
        "static __device__ const int limit = 10;",
        "    struct config config;",  # in Shared
        "    const int (*matrix)[700];",
        "    const float *curve; unsigned long long curve_texture;",
        "    HD_SHARED(hd::Box<int[1500]>, hd_squares_block);",
        "        alignas(16) char hd_buffer_memory[64]; HD_FILL(hd_buffer_memory);",
        "        buffer = (char *)hd_buffer_memory;",
        "        hd.globals.line = {};",
        "    return hd::add(hd.squares_block[i % 1500], hd.matrix_block[i % 3][i % 700]);",
    ):
        assert f"\n{line}\n" in text, line
    for part in ("shared.heap[i % 100]", "shared.weights[i % 8]", "hd::fetch(shared.curve, shared.curve_texture, i % 4000)",
                 "shared.config.scale", "suffix[i % 4]", "&hd.globals.line"):
        assert part in text, part


def test_long_lines_are_cut_between_arguments() -> None:
    text = 'call(f(1, "a, (b"), ' + ", ".join(f"argument_{n}" for n in range(20)) + ");"
    lines = wrapped(f"    {text}")
    assert len(lines) > 1 and max(map(len, lines)) <= 120
    assert " ".join(line.strip() for line in lines) == text


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
