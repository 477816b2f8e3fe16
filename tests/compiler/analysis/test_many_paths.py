"""Code with very many paths: followed with less known of each, or given up soon."""

from __future__ import annotations

import time

import pytest

from ..regions import codes, mapper

USE = 'printf("%s\\t%d\\n", k, v);'


@pytest.mark.parametrize("body", [
    "k[0] = 0; v = 0" + "".join(f" + (line[{n % 9}] > {n} ? {n} : 2)" for n in range(400)) + ";",
    "k[0] = 0; v = 1; if (" + " && ".join(f"(line[{n}] > {n} || line[{n}] == 9)" for n in range(400)) + ") v = 2;",
    "k[0] = 0; v = 1; if (" + " || ".join(f"(line[{n}] > {n} && line[{n}] != 99)" for n in range(400)) + ") v = 2;",
    "k[0] = 0; v = many(" + ", ".join(f"line[{n}] ? {n} : 7" for n in range(40)) + ");",
    "k[0] = 0; v = (" + "".join(f"line[{n % 7}] == {n} ? {n} : " for n in range(400)) + "5);",
], ids=["sum", "and", "or", "arguments", "chain"])
def test_an_expression_of_many_choices_is_followed(body: str) -> None:
    names = ", ".join(f"int a{n}" for n in range(40))
    assert not codes(mapper(body + USE, helpers=f"static int many({names}) {{ return a0 + a39; }}"))


def test_what_every_path_writes_is_known_however_many_there_are() -> None:
    last = "(line[0] ? (v = 1) : (v = 2))" + "".join(f" + (line[{n % 9}] > {n} ? {n} : 2)" for n in range(100))
    assert not codes(mapper(f"k[0] = 0; k[1] = (char)({last}); {USE}"))
    some = last.replace("(v = 2)", "2")
    assert codes(mapper(f"k[0] = 0; k[1] = (char)({some}); {USE}")) == {"HD210"}


def test_loops_in_loops_are_given_up_soon() -> None:
    loops = "".join(f"for (int i{n} = 0; i{n} < 1; i{n}++) " for n in range(100))
    started = time.process_time()
    assert codes(mapper(f"k[0] = 0; v = 0; {loops} v++; {USE}")) == {"HD231"}
    assert time.process_time() - started < 10, "17 when every round counted the same"


def test_a_long_program_is_followed() -> None:
    many = "\n".join(f"int a{n} = line[{n % 30}]; v += a{n};" for n in range(800))
    assert not codes(mapper(f"k[0] = 0; v = 0; {many} for (int i = 0; i < 3; i++) v += i; {USE}"))
