"""Of the stand-in headers only what a program names is parsed, with all that this needs."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from pycparser.c_parser import CParser

from heterodoop.compiler.source.line_markers import PpLine, read_lines
from heterodoop.compiler.source.stand_ins import named
from heterodoop.source import SourceMap

HEADERS = Path(__file__).resolve().parents[3] / "runtime" / "headers"


@cache
def declarations() -> tuple[PpLine, ...]:
    """All that the headers declare."""
    includes = "".join(f"#include <{path.relative_to(HEADERS)}>\n" for path in sorted(HEADERS.rglob("*.h")))
    words = ["cc", "-E", "-nostdinc", "-isystem", str(HEADERS), "-D_GNU_SOURCE", "-D__builtin_va_list=char*", "-x", "c", "-"]
    text = subprocess.run(words, input=includes, capture_output=True, text=True, check=True).stdout
    return tuple(read_lines(text, {}, SourceMap(), str(HEADERS))[0])


def kept(user: str, *more: str) -> str:
    lines = [*declarations(), PpLine("map.c", 1, user, False)]
    found = named(lines, lambda line: line.file.startswith(str(HEADERS)), more)
    assert found[-1].text == user
    return "\n".join(line.text for line in found[:-1])


def test_what_nobody_names_is_left_out() -> None:
    text = kept("int main(void) { return puts(all); }")
    assert "int puts(const char *text);" in text and "printf" not in text and "struct tm" not in text


@pytest.mark.parametrize(
    ("user", "with_it"),
    [
        ("fopen", ["FILE *fopen(", "typedef struct _IO_FILE FILE;"]),
        ("strlen", ["size_t strlen(", "typedef unsigned long size_t;"]),
        ("signal", ["__hd_handler signal(", "typedef void (*__hd_handler)(int);"]),
        ("struct stat s;", ["  off_t st_size;", "typedef long off_t;", "struct timespec {", "time_t;"]),
        ("tm", ["struct tm {", "tm_year"]),
        ("ldiv", ["ldiv_t;", "ldiv_t ldiv("]),
    ])
def test_a_name_brings_what_its_declaration_names(user: str, with_it: list[str]) -> None:
    text = kept(user)
    assert all(part in text for part in with_it), text


def test_variables_stay_and_other_texts_count() -> None:
    assert "extern FILE *stdin;" in kept("x") and "extern char **environ;" in kept("x")
    assert "uint16_t" in kept("x", "sizeof(uint16_t)") and "uint16_t" not in kept("x")


def test_each_declaration_can_be_parsed_with_what_it_brings() -> None:
    words = {word for line in declarations() for word in re.findall(r"[a-z_]\w+", line.text)}
    assert len(words) > 500
    for text in {kept(word) for word in words}:
        CParser().parse(text)


def test_a_declaration_that_a_macro_spread_over_lines_is_one() -> None:
    lines = [PpLine("ours.h", 3, text, True) for text in ("void", "again", "(int);", "int other(int);")]
    found = named([*lines, PpLine("map.c", 1, "again(1);", False)], lambda line: line.file == "ours.h")
    assert [line.text for line in found] == ["void", "again", "(int);", "again(1);"]
