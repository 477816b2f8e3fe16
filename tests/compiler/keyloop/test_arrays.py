"""Key loops that keep arrays of numbers: spellings, what is none, and accesses outside of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.compiler.keyloop.loop_text import loop_text

from ...run.host_program import LEFT, spawn
from ..emit.test_key_loop import run
from ..regions import analyse
from .test_key_loops import BEFORE, REAL, recognised, usual, written

ARRAYS = BEFORE + " long h[4] = {0}; double r[2]; short few[4]; int i, m[2][2]; unsigned u;"
PRINT = '{ printf("%s\\t", prev); for (i = 0; i < 4; i++) printf("%ld ", h[i]); printf("\\n"); }'
ZERO = "memset(h, 0, sizeof h);"
COUNT = "h[v & 3]++;"


def kept(first: str, same: str, emit: str = PRINT, **others: str) -> str:
    return usual(first, same, emit, before=ARRAYS, **others)


COUNTED = "long[4] h = zeros[(long)(v0 & 3)]=1, then h[(long)(v0 & 3)]=(h[(long)(v0 & 3)] + 1)"
LOOPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "constant places": (kept(ZERO + " h[0] = v;", "h[1] += v; h[2]++;"), (
        "long[4] h = zeros[0]=(long)v0, then h[1]=(h[1] + (long)v0)[2]=(h[2] + 1)",
        'print KEY "\\t" %ld:h[0] " " %ld:h[1] " " %ld:h[2] " " %ld:h[3] " \\n"')),
    "a histogram": (kept(ZERO + COUNT, COUNT), (COUNTED,)),
    "by a remainder": (kept(ZERO, "h[v % 4]++;"), ("then outside if ((long)(v0 % 4) < 0)",)),
    "by an unsigned one": (kept(ZERO, "h[(unsigned)v % 4] += v;"),
                           ("long[4] h = zeros, then h[(long)((unsigned int)v0 % 4)]=",)),
    "behind a test": (kept(ZERO, "if (v >= 0 && v < 4) h[v]++;"),
                      ("? h[(long)v0]=(h[(long)v0] + 1) : h)", "then outside if")),
    "zeros by a loop": (kept("for (i = 0; i < 4; i++) h[i] = 0; " + COUNT, COUNT), (COUNTED,)),
    "zeros by other loops": (kept("i = 4; while (i > 0) h[--i] = 0; do i++; while (i < 7); " + COUNT, COUNT), (COUNTED,)),
    "zeros one by one": (kept("h[3] = h[2] = 0; h[0] = 0; h[1] = 0; " + COUNT, COUNT), (COUNTED,)),
    "zeros where it is printed": (written(
        "if (strcmp(word, prev)) { if (prev[0]) { EMIT memset(h, 0, sizeof h); } strcpy(prev, word); } " + COUNT, PRINT,
        before=ARRAYS), (COUNTED,)),
    "of doubles": (kept("r[0] = x; r[1] = 0;", "r[1] = r[0]; r[0] += x;",
                        'printf("%s\\t%g %g\\n", prev, r[0], r[1]);', loop=REAL),
                   ("double[2] r = zeros[0]=v0, then zeros[0]=(r[0] + v0)[1]=r[0]",)),
    "the place of the most": (kept(
        ZERO + COUNT, COUNT, "{ hi = 0; for (i = 1; i < 4; i++) if (h[i] > h[hi]) hi = i;"
        ' printf("%s\\t%d\\n", prev, hi); }'),
        ("? 3 : ((h[2] >",)),
    "a place that is printed nowhere": (
        kept(ZERO + " n = 0;", "h[n % 4] += v; n += v;"),
        ("long n = 0, then (n + (long)v0)", "then outside if ((n % 4) < 0)")),
    "a sum of all": (kept(
        ZERO, COUNT, '{ s = 0; for (i = 0; i < 4; i++) { if (i == 2) continue; if (i == 3) break; s += h[i]; }'
        ' printf("%s\\t%ld\\n", prev, s); }'), ("%ld:(h[0] + h[1])",)),
    "some of them": (kept(
        ZERO, COUNT, '{ printf("%s\\t", prev); for (i = 0; i < 4; i++) if (h[i]) printf("%d:%ld ", i, h[i]);'
        ' printf(".\\n"); }'),
        ('print KEY "\\t" [%d:0 ":" %ld:h[0] " " if (h[0] != 0)] [%d:1 ":"', '(h[3] != 0)] ".\\n"')),
    "one of two each": (kept(
        ZERO, COUNT, '{ printf("%s\\t", prev); for (i = 0; i < 4; i++) if (h[i] > 9) putchar(43); else printf("%ld", h[i]);'
        ' puts("."); }'), ('["+" if (h[0] > 9) else %ld:h[0]]',)),
    "through a pointer, and in a struct": (usual(
        "memset(c.h, 0, sizeof c.h); add(c.h, v);", "add(c.h, v);", 'printf("%s\\t%ld\\n", prev, c.h[1] + c.n);',
        helpers="struct c { long n, h[3]; }; static void add(long *h, int v) { h[v > 3 ? 1 : 2] += v; }",
        before=BEFORE + " struct c c = {0};"), ("long[3] c.h = zeros[(long)((v0 > 3) ? 1 : 2)]=(long)v0",)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_spellings(name: str) -> None:
    assert recognised(*LOOPS[name]).fold is None


NONE = {
    "what the key before it left": (kept("h[0] = 1;", COUNT), "'h' does not begin for every key as it does for the first"),
    "surely outside": (kept(ZERO, "h[4]++;"), "it goes outside of an array"),
    "below it": (kept(ZERO, "h[-1]++;"), "it goes outside of an array"),
    "short numbers": (kept("few[0] = 0;", "few[0]++;", 'printf("%s\\t%d\\n", prev, few[0]);'), "not understood"),
    "two dimensions": (kept("m[0][0] = v;", "m[0][0] += v;", 'printf("%s\\t%d\\n", prev, m[0][0]);'), "not understood"),
    "a place that a value gives when a key is over": (
        kept(ZERO + "s = v;", COUNT, 'printf("%s\\t%ld\\n", prev, h[s % 4]);'),
        "where it goes in an array when a key is over"),
    "a place that changes as it is read": (kept(ZERO + " i = 0;", "h[i++] += v;"), "not understood"),
    "a line for each": (kept(ZERO, COUNT, 'for (i = 0; i < 4; i++) if (h[i]) printf("%s\\t%ld\\n", prev, h[i]);'),
                        "is not the key, a tab, the number and a newline"),
    "rounds that a value gives": (kept(ZERO, "while (v--) h[0]++;"), "how often a loop inside goes round is not known"),
    "rounds without end": (kept(ZERO, "for (;;) h[0]++;"), "goes round more than 300 times"),
    "a part of the zeros": (kept("memset(h, 0, 8);", COUNT), "not understood"),
    "too long a term": (kept(ZERO, "h[3] = h[0] + h[1]; for (i = 0; i < 99; i++) h[3] = h[3] * h[3];"), "is too long"),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_key_loop(name: str) -> None:
    source, why = NONE[name]
    found = analyse(source)[0].facts.fold
    assert found.loop is None and why in found.no_loop, loop_text(found.loop) if found.loop else found.no_loop


@pytest.mark.usefixtures("kernel_cache")
def test_what_is_printed_on_conditions(tmp_path: Path) -> None:
    found = analyse(LOOPS["some of them"][0])[0].facts.fold
    assert found.loop is not None and found.pairs is not None
    done = run(found.loop, b"k\t9\nk\t0\nl\t3\nk\t3\nm\t4\nk\t3\n", tmp_path, found.pairs)
    assert done.lines == [b"k\t0:1 3:2 .\n", b"l\t.\n", b"m\t.\n"]


@pytest.mark.usefixtures("kernel_cache")
def test_an_access_outside_leaves_the_task(tmp_path: Path) -> None:
    found = analyse(kept(ZERO, "if (v != 9) h[v]++;"))[0].facts.fold
    assert found.loop is not None and found.pairs is not None
    good = b"k\t9\nk\t0\nk\t3\nk\t3\nk\t9\nl\t4\n"
    done = run(found.loop, good, tmp_path, found.pairs)
    assert done.lines == [b"k\t1 0 0 2 \n", b"l\t0 0 0 0 \n"]
    for bad in (b"4", b"-1", b"2147483647", b"-2147483648"):
        done = spawn(tmp_path / "map.host", good + b"k\t" + bad + b"\n", tmp_path)
        assert (done.status, done.report["left"]) == (LEFT, 15), bad
