"""Key loops as C++, made by hand: what is computed of a key's pairs, and what is printed."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.emit import host, key_loop
from heterodoop.compiler.keyloop.loop import (
    Choice,
    Convert,
    KeptValue,
    KeptVariable,
    KeyLoop,
    KeyOutput,
    Number,
    Operation,
    PairField,
    Piece,
    PrintedKey,
    PrintedTerm,
    Term,
    ValueField,
    ValueForm,
)
from heterodoop.compiler.spine import analyse
from heterodoop.compiler.types import ctype
from heterodoop.compiler.types.ctype import CHAR, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, CType
from heterodoop.manifest import PairReader
from heterodoop.toolchain import host_kernel

from ...run.host_program import LEFT, Done, spawn

pytestmark = pytest.mark.usefixtures("kernel_cache")
TOKEN = PairReader("token", 31, ())
# A line as it stands is a pair.
MAP = """#include <stdio.h>
int main(void)
{
    char line[200];
#pragma mapreduce mapper key(line) value(line) keylength(200) vallength(200)
    while (fgets(line, 200, stdin))
        printf("%s", line);
    return 0;
}
"""


def run(loop: KeyLoop, data: bytes, folder: Path, pairs: PairReader = TOKEN) -> Done:
    assert key_loop.problem(loop, pairs) == ""
    (folder / "map.c").write_text(MAP)
    (program,) = analyse(BuildOptions.make([str(folder / "map.c")])).programs
    assert program.region is not None
    text = host.emit(program.region.facts.device, host.Combiner(loop, pairs, True), program.region.macros)
    host_kernel.build(text, folder / "map.host")
    return spawn(folder / "map.host", data, folder)


def form(*types: CType, between: bytes = b" ") -> ValueForm:
    return ValueForm(tuple(map(ValueField, types)), (between,) * (len(types) - 1))


def line(*pieces: Piece) -> KeyOutput:
    return KeyOutput((PrintedKey(), b"\t", *pieces, b"\n"))


def one(state: CType, first: Term, same: Term, finish: KeyOutput, *reads: CType) -> KeyLoop:
    return KeyLoop(form(*reads), (KeptVariable("x", state),), (first,), (same,), finish)


def folded(term: Term, kind: CType, spec: str, *reads: CType) -> KeyLoop:
    """Each pair's term, and the last one is printed."""
    return one(kind, term, term, line(PrintedTerm(spec, KeptValue(0, kind))), *reads)


@pytest.mark.parametrize(("term", "kind", "spec", "read", "given", "printed"), [
    (Operation("+", (PairField(0, INT), Number(1, INT)), INT), INT, "%d", INT, b"2147483647", b"-2147483648"),
    (Operation("*", (PairField(0, LONG), PairField(0, LONG)), LONG), LONG, "%ld", LONG, b"4294967297", b"8589934593"),
    (Operation("-", (PairField(0, INT),), INT), INT, "%d", INT, b"-2147483648", b"-2147483648"),
    (Operation("~", (PairField(0, UINT),), UINT), UINT, "%u", UINT, b"0", b"4294967295"),
    (Operation("!", (PairField(0, INT),), INT), INT, "%d", INT, b"7", b"0"),
    (Operation(">>", (PairField(0, INT), Number(33, INT)), INT), INT, "%d", INT, b"-8", b"-4"),
    (Operation("<<", (PairField(0, UINT), Number(31, INT)), UINT), UINT, "%u", UINT, b"3", b"2147483648"),
    (Operation("%", (PairField(0, INT), Number(7, INT)), INT), INT, "%d", INT, b"-15", b"-1"),
    (Operation("<", (PairField(0, INT), Number(0, INT)), INT), INT, "%d", INT, b"-1", b"1"),
    (Operation("<", (Convert(PairField(0, INT), UINT), Number(1, UINT)), INT), INT, "%d", INT, b"-1", b"0"),
    (Convert(Convert(PairField(0, INT), CHAR), INT), INT, "%d", INT, b"200", b"-56"),
    (Convert(PairField(0, DOUBLE), INT), INT, "%d", DOUBLE, b"1e300", b"-2147483648"),
    (Convert(PairField(0, DOUBLE), ctype.BOOL), ctype.BOOL, "%d", DOUBLE, b"0.25", b"1"),
    (Convert(PairField(0, ULONG), FLOAT), FLOAT, "%.1f", ULONG, b"16777217", b"16777216.0"),
    (Operation("/", (PairField(0, DOUBLE), Number(3.0, DOUBLE)), DOUBLE), DOUBLE, "%.17g", DOUBLE, b"0.1",
     b"0.033333333333333333"),
    (PairField(0, DOUBLE), DOUBLE, "%a", DOUBLE, b"-12.5e-3", b"-0x1.999999999999ap-7"),
    (PairField(0, FLOAT), FLOAT, "%.17g", FLOAT, b"1.00000005960464477539062500000000001", b"1.0000001192092896"),
    (PairField(0, LONG), LONG, "%+05ld", LONG, b"42", b"+0042"),
    (PairField(0, ULONG), ULONG, "%#lx", ULONG, b"255", b"0xff"),
    (Choice(Operation("==", (PairField(0, INT), Number(2, INT)), INT), Number(-1, INT), PairField(0, INT), INT), INT, "%i",
     INT, b"2",
     b"-1"),
])
def test_terms(
    term: Term, kind: CType, spec: str, read: CType, given: bytes, printed: bytes, tmp_path: Path,
) -> None:
    done = run(folded(term, kind, spec, read), b"k\t" + given + b"\n", tmp_path)
    assert (done.status, done.out) == (0, b"k\t" + printed + b"\n"), done


def test_all_of_the_state_changes_at_once(tmp_path: Path) -> None:
    """A pair of numbers that walk on: each sees the other as it was."""
    a, b = KeptValue(0, INT), KeptValue(1, INT)
    loop = KeyLoop(
        form(INT), (KeptVariable("a", INT), KeptVariable("b", INT)), (PairField(0, INT), Number(1, INT)),
        (b, Operation("+", (a, b), INT)),
        line(PrintedTerm("%d", a), b",", PrintedTerm("%d", b)),
    )
    done = run(loop, b"k\t0\n" * 7 + b"l\t5\n", tmp_path)
    assert done.lines == [b"k\t8,13\n", b"l\t5,1\n"]


@pytest.mark.parametrize("kind", [INT, ULONG])
def test_an_integer_of_more_bytes_than_the_longest_does_not_read_back(kind: CType, tmp_path: Path) -> None:
    spec = "%d" if kind == INT else "%lu"
    assert run(folded(PairField(0, kind), kind, spec, kind), b"k\t%020d\n" % 7, tmp_path).out == b"k\t7\n"
    done = spawn(tmp_path / "map.host", b"k\t%021d\n" % 7, tmp_path)
    assert (done.status, done.report["left"]) == (LEFT, 16)


def test_several_fields_in_one_value(tmp_path: Path) -> None:
    fields = (INT, DOUBLE, LONG)
    loop = KeyLoop(
        form(*fields, between=b" ; "), tuple(KeptVariable("s", kind) for kind in fields),
        tuple(PairField(i, kind) for i, kind in enumerate(fields)),
        tuple(Operation("+", (KeptValue(i, kind), PairField(i, kind)), kind) for i, kind in enumerate(fields)),
        line(PrintedTerm("%d", KeptValue(0, INT)), b" ", PrintedTerm("%g", KeptValue(1, DOUBLE)), b" ",
             PrintedTerm("%ld", KeptValue(2, LONG))),
    )
    done = run(loop, b"k\t1 ; 0.5 ; -3\nk\t10 ; -2 ; 4\n", tmp_path)
    assert done.out == b"k\t11 -1.5 1\n"
    for value in (b"1 ; 2", b"1 ; 2 ; 3 ; 4", b"1 2 3", b"1 ;  2 ; 3", b"1 ; 2 ; 3x", b" 1 ; 2 ; 3", b""):
        done = spawn(tmp_path / "map.host", b"k\t" + value + b"\n", tmp_path)
        assert (done.status, done.report["left"]) == (LEFT, 16), value


@pytest.mark.parametrize("text", [
    b"0", b"-0", b"1e5", b"0.1", b"123456789012345678901234567890", b"4.9e-324", b"1.7976931348623157e308", b"-1.5e+3",
    b"1e-400",
])
def test_doubles_read_back(text: bytes, tmp_path: Path) -> None:
    done = run(folded(PairField(0, DOUBLE), DOUBLE, "%.17g", DOUBLE), b"k\t" + text + b"\n", tmp_path)
    assert struct.pack("d", float(done.out[2:])) == struct.pack("d", float(text))


@pytest.mark.parametrize("text", [
    b"inf", b"nan", b"0x1p3", b"1e999", b"+1", b".5", b"5.", b"1e", b"1e5x", b" 1", b"1" * 101,
])
def test_doubles_that_are_left(text: bytes, tmp_path: Path) -> None:
    done = run(folded(PairField(0, DOUBLE), DOUBLE, "%g", DOUBLE), b"k\t" + text + b"\n", tmp_path)
    assert (done.status, done.report["left"]) == (LEFT, 16)


@pytest.mark.parametrize(("term", "status"), [
    (Operation("/", (Number(1, INT), PairField(0, INT)), INT), 4),
    (Operation("%", (Number(1, INT), PairField(0, INT)), INT), 4),
])
def test_a_division_that_traps_is_left(term: Term, status: int, tmp_path: Path) -> None:
    done = run(folded(term, INT, "%d", INT), b"k\t1\nk\t0\n", tmp_path)
    assert (done.status, done.report) == (LEFT, {"left": status, "record": 1, "line": 0})


def test_a_nan_that_would_be_printed_is_left(tmp_path: Path) -> None:
    zero = Operation("-", (PairField(0, DOUBLE), PairField(0, DOUBLE)), DOUBLE)
    done = run(folded(Operation("/", (zero, zero), DOUBLE), DOUBLE, "%f", DOUBLE), b"k\t1\n", tmp_path)
    assert (done.status, done.report["left"]) == (LEFT, 10)


def test_a_line_where_a_condition_holds(tmp_path: Path) -> None:
    kept = KeptValue(0, INT)
    plain = line(PrintedTerm("%d", kept))
    zero = KeyOutput(line(b"none").pieces, Operation("==", (kept, Number(0, INT)), INT), KeyOutput(()))
    finish = KeyOutput(plain.pieces, Operation(">", (kept, Number(1, INT)), INT), zero)
    loop = one(INT, PairField(0, INT), Operation("+", (kept, PairField(0, INT)), INT), finish, INT)
    done = run(loop, b"a\t1\nb\t1\nb\t1\nc\t0\n", tmp_path)
    assert done.lines == [b"b\t2\n", b"c\tnone\n"] and done.report["keys"] == 2


def test_a_value_that_nobody_looks_at(tmp_path: Path) -> None:
    kept, number = KeptValue(0, LONG), Number(1, LONG)
    loop = one(LONG, number, Operation("+", (kept, number), LONG), line(PrintedTerm("%ld", kept)))
    done = run(loop, b"a\tx\ty\nb\na\t\nb\n", tmp_path)
    assert done.lines == [b"a\t2\n", b"b\t2\n"]


@pytest.mark.parametrize(("pairs", "taken", "left"), [
    (PairReader("token", 4, ()), [b"abcd", b"\xff"], [b"abcde", b"a b", b"", b"a\v"]),
    (PairReader("field", 0, ()), [b"a b ", b"x" * 180, b""], []),
    (PairReader("field", 2, ()), [b"ab"], [b"abc"]),
    (PairReader("int32", 0, (), -1), [b"0", b"-2147483648", b"2147483647"],
     [b"-1", b"-0", b"01", b"2147483648", b"+1", b"x", b""]),
    (PairReader("uint64", 0, (), 5), [b"18446744073709551615", b"0"], [b"5", b"-1", b"18446744073709551616"]),
])
def test_keys(pairs: PairReader, taken: list[bytes], left: list[bytes], tmp_path: Path) -> None:
    loop = folded(PairField(0, INT), INT, "%d", INT)
    done = run(loop, b"".join(key + b"\t1\n" for key in taken), tmp_path, pairs)
    assert done.lines == sorted(key + b"\t1\n" for key in taken)
    empty = run(replace(loop, nonempty=True), b"\t1\n", tmp_path, pairs)
    assert (empty.status, empty.report["left"]) == (LEFT, 16)
    run(loop, b"", tmp_path, pairs)
    for key in left:
        done = spawn(tmp_path / "map.host", key + b"\t1\n", tmp_path)
        assert (done.status, done.report["left"]) == (LEFT, 16), key


@pytest.mark.parametrize(("finish", "why"), [
    (KeyOutput((b"x", PrintedKey(), b"\t1\n")), "not the key"), (KeyOutput((PrintedKey(), b"1\n")), "not the key"),
    (KeyOutput((PrintedKey(), b"\t1")), "not the key"),
    (KeyOutput((PrintedKey(), b"\t1\n", PrintedKey(), b"\t2\n")), "more than a line"),
    (line(PrintedTerm("%s", KeptValue(0, INT))), "conversion"), (KeyOutput((PrintedKey(), b"\ta\rb\n")), "more than a line"),
    (KeyOutput(line(b"1").pieces, KeptValue(0, INT), KeyOutput((PrintedKey(),))), "not the key"),
])
def test_what_is_printed_otherwise_is_no_line_of_the_key(finish: KeyOutput, why: str) -> None:
    loop = one(INT, PairField(0, INT), PairField(0, INT), finish, INT)
    assert why in key_loop.problem(loop, TOKEN)


def test_readers_that_are_not_known() -> None:
    loop = folded(PairField(0, ctype.LDOUBLE), ctype.LDOUBLE, "%g", ctype.LDOUBLE)
    assert "type 'long double'" in key_loop.problem(loop, TOKEN)
    loop = folded(PairField(0, INT), INT, "%d", INT)
    assert key_loop.problem(loop, None) and key_loop.problem(loop, PairReader("other", 0, ()))
