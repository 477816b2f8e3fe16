"""Which loops look ahead on a GPU: those that only look for a place in a read-only array, and no other."""

from __future__ import annotations

import re

import pytest

from ..regions import cuda, mapper

BEFORE = """
  int x = 0, t[64], other[64], few[8], *there = malloc(64 * sizeof *there), i, j, sum; short cut;
  char word[64]; double real[64];
  for (i = 0; i < 64; i++) { t[i] = i * 7 % 64; other[i] = i; there[i] = i; few[i % 8] = i; real[i] = i / 2.0; }
"""
BEGIN = "i = j = sum = noted = 0; cut = 0; x = atoi(line); word[0] = line[0]; word[1] = 0;"
END = 'v = i + j + sum + cut; k[0] = word[0]; k[1] = 0; printf("%s\\t%d\\n", k, v);'
HELPERS = """
static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
static int is(int element, int wanted) { return element == wanted; }
static int noted;
static int is_noted(int element, int wanted) { noted++; return element == wanted; }
static int find(int x) { int i; for (i = 0; letters[i] != 0 && letters[i] != x; i++); return i; }
"""


def kernel(loop: str) -> str:
    return cuda(mapper(f"{BEGIN}\n{loop}\n{END}", before=BEFORE, helpers=HELPERS))


AHEAD = {
    "an empty body": "for (i = 0; i < 64 && t[i] != x; i++);",
    "a while loop": "while (i < 64 && t[i] != x) i++;",
    "a step by assignment": "while (i < 64 && t[i] != x) i += 1;",
    "an if that leaves": "for (i = 0; i < 64; i++) if (t[i] == x) break;",
    "an if that does more": "for (i = 0; i < 64; i++) if (t[i] == x) { sum += i; break; }",
    "an if that does not leave": "for (i = 0; i < 64; i++) if (t[i] == x) sum++;",
    "a declaration": "for (int m = 3; m < 64; m++) if (t[m] == x) { sum = m; break; }",
    "a bound that is looked up": "while (i < other[j] && t[i] != x) i++;",
    "a bound on the other side": "while (64 > i && t[i] != x) i++;",
    "no bound": "while (t[i] != 63) i++;",
    "real numbers": "while (i < 64 && real[i] < x) i++;",
    "a pure helper": "for (i = 0; i < 64 && !is(t[i], x); i++);",
    "a function of the library": "for (i = 0; letters[i] && isalpha(letters[i]); i++);",
    "a helper's own loop": "sum = find(x);",
}
NOT_AHEAD = {
    "a small table": "for (i = 0; i < 8 && few[i] != x; i++);",
    "an array of the thread's": "for (i = 0; i < 64 && word[i] != x; i++);",
    "the record": "while (line[i] != ',' && line[i] != 0) i++;",
    "memory behind a pointer, whose size nobody knows": "while (i < 64 && there[i] != x) i++;",
    "two tables": "while (i < 64 && t[i] != x && other[i] != x) i++;",
    "a neighbour": "while (i < 63 && t[i + 1] != x) i++;",
    "a neighbour beside the element": "while (i < 63 && t[i] < t[i + 1]) i++;",
    "what only a later test loads": "while (i < 64 && t[i] != other[j]) i++;",
    "another step": "for (i = 0; i < 64 && t[i] != x; i += 2);",
    "a step back": "for (i = 63; i > 0 && t[i] != x; i--);",
    "an index that is cut": "while (i < 64 && t[(signed char)i] != x) i++;",
    "a narrow index": "while (cut < 64 && t[cut] != x) cut++;",
    "an index that others see": "{ int *p = &i; while (i < 64 && t[i] != x) i++; sum = *p; }",
    "another variable's element": "while (i < 64 && t[j] != x) i++;",
    "work in the body": "while (i < 64 && t[i] != x) { sum++; i++; }",
    "an else": "for (i = 0; i < 64; i++) if (t[i] == x) break; else sum++;",
    "a test that changes something": "while (i < 64 && t[i] != x++) i++;",
    "a helper that does": "while (i < 64 && !is_noted(t[i], x)) i++;",
    "a division that may fail": "while (i < 64 && t[i] / x != 2) i++;",
}


@pytest.mark.parametrize("name", AHEAD)
def test_looks_ahead(name: str) -> None:
    text = kernel(AHEAD[name])
    assert len(re.findall(r"hd::search_array\(", text)) == 1 and '#include "lane/ahead.cuh"' in text


@pytest.mark.parametrize("name", NOT_AHEAD)
def test_does_not_look_ahead(name: str) -> None:
    text = kernel(NOT_AHEAD[name])
    assert "hd::search_array(" not in text and "lane/ahead.cuh" not in text


def test_the_call() -> None:
    text = kernel("for (i = 0; i < x && t[i] != 5; i++) if (other[j] == x) break;")
    assert "search_array" not in text
    lines = kernel("for (i = 2; i < x && t[i] != 5; i++);").splitlines()
    at = next(number for number, line in enumerate(lines) if "search_array" in line)
    assert lines[at - 1].strip() == "i = 2;"
    assert " ".join(line.strip() for line in lines[at : at + 2]) == (
        "hd::search_array(i, 64UL, [&](int hd_i) -> bool { return hd_i < x; }, [&](int hd_i) { return shared.t[hd_i]; },"
        " [&](int hd_i, int hd_e) -> bool { return hd_e != 5; });")
    assert lines[at + 2].startswith("#line") and lines[at + 3].strip().startswith(
        "for (; i < x && shared.t[hd::within<64>(hd, i, 20)] != 5;")
