"""Field cases B: constructs of real C programs. They run as the C compiler compiled them, and the analysis is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..support import Bundles, cli_here, parts
from .runner import Case, check, check_verdict, load, program

CASES = load("B")

HEAD = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n"
LOOP = "  while ((n = getline(&line, &cap, stdin)) != -1) {\n    v = (int)n; sprintf(k, \"n%d\", v);\n"
DECLARE = "  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v;\n"
TAIL = "    printf(\"%s\\t%d\\n\", k, v);\n  }\n  return 0;\n}\n"


def mapper(directive: str, before_loop: str = "") -> str:
    """A program whose directive is in line 5."""
    return f"{HEAD}{DECLARE}  #pragma mapreduce {directive}\n{before_loop}{LOOP}{TAIL}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, bundles: Bundles, tmp_path: Path) -> None:
    check(case, bundles, tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case, bundles: Bundles) -> None:
    check_verdict(case, bundles)


def test_b10_the_value_of_a_macro_is_the_length(bundles: Bundles) -> None:
    region = json.loads(cli_here("explain", bundles.get(program("B10", "map")), "--json").out)["programs"]["map"]["region"]
    assert (region["keylength"], region["vallength"]) == (24, 1)


def test_b11_the_operator_form_of_a_directive(bundles: Bundles, tmp_path: Path) -> None:
    text = mapper("mapper key(k) value(v) keylength(32)")
    operator = text.replace("  #pragma mapreduce mapper key(k) value(v) keylength(32)\n",
                            '  _Pragma("mapreduce mapper key(k) value(v) keylength(32)")\n')
    assert operator != text
    (tmp_path / "in").write_bytes(b"a\nabc\n")
    regions = []
    for number, source in enumerate((text, operator)):
        bundle = bundles.get(source)
        cli_here("run", bundle, tmp_path / "in", "-o", tmp_path / f"out{number}", "--quiet")
        assert b"".join(parts(tmp_path / f"out{number}")) == b"n2\t2\nn4\t4\n"
        regions.append(json.loads(cli_here("explain", bundle, "--json").out)["programs"]["map"]["region"])
    for region in regions:
        assert (region["key"], region["value"], region["keylength"]) == ("k", "v", 32)


WRONG = {
    "misspelt clause": ("mapper key(k) value(v) keylenght(32)", "", 5, "keylenght"),
    "no key": ("mapper value(v) keylength(32)", "", 5, "key"),
    "unknown variable": ("mapper key(wrod) value(v) keylength(32)", "", 5, "wrod"),
    "two mappers": ("mapper key(k) value(v)", "#pragma mapreduce mapper key(k) value(v)\n", 6, "mapper"),
    "no loop or block": ("mapper key(k) value(v) keylength(32)", "  v = 0;\n", 5, "loop"),
    "length zero": ("mapper key(k) value(v) keylength(0)", "", 5, "keylength"),
    "length negative": ("mapper key(k) value(v) keylength(-1)", "", 5, "keylength"),
    "length a name": ("mapper key(k) value(v) keylength(abc)", "", 5, "abc"),
}


@pytest.mark.parametrize("name", WRONG)
def test_b12_a_wrong_directive_stops_the_build_at_its_place(name: str, tmp_path: Path) -> None:
    directive, before_loop, line, word = WRONG[name]
    source = tmp_path / "map.c"
    source.write_text(mapper(directive, before_loop))
    done = cli_here("compile", source, "-o", tmp_path / "app.hdp", status=3)
    assert f"{source}:{line}:" in done.message and word in done.message and "error[HD1" in done.message
    assert not (tmp_path / "app.hdp").exists() and done.out == b""


def test_b12_of_the_field_names_line_and_word(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(program("B12", "map"))
    done = cli_here("compile", tmp_path / "map.c", "-o", tmp_path / "app.hdp", status=3)
    assert "map.c:6:" in done.message and "'keylenght'" in done.message and "keylength" in done.message


def test_b18_explicit_clauses_change_nothing(bundles: Bundles, tmp_path: Path) -> None:
    plain = program("B18", "map")
    explicit = plain.replace("vallength(1)\n", "vallength(1) firstprivate(mult) sharedRO(weight, stop, scale)\n")
    assert explicit != plain
    (tmp_path / "in").write_bytes(b"abc\nxyz\nhello\n")
    for number, source in enumerate((plain, explicit)):
        cli_here("run", bundles.get(source), tmp_path / "in", "-o", tmp_path / f"out{number}", "--quiet")
        assert sorted(b"".join(parts(tmp_path / f"out{number}")).splitlines()) == [b"abc\t10", b"hello\t31", b"xyz\t4"]


def test_b21_where_it_is_refused_the_static_pointer_is_named(bundles: Bundles) -> None:
    found = json.loads(cli_here("explain", bundles.get(program("B21", "map")), "--json").out)["programs"]["map"]
    assert found["gpu"] or any("'save'" in refusal["message"] for refusal in found["gpu_refusals"])
