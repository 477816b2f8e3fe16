"""Which loops copy sixteen bytes at a time in a host kernel, and which do not."""

from __future__ import annotations

import re

import pytest

from heterodoop.compiler.device.text import print_device

from ..regions import analyse, mapper

BEFORE = """char word[64], other[64], pair[8]; unsigned char bytes[64];
int i, n, size = 64, *there = &size; short cut; long far; char c;"""
BEGIN = "i = n = 0; cut = 0; far = 0; c = ' '; word[0] = other[0] = 0; bytes[0] = 0; (void)there; pair[0] = 0;"
END = """word[n < 64 ? n : 63] = 0; k[0] = word[0]; k[1] = 0; v = n + i + cut + (int)far + pair[0];
printf("%s\\t%d\\n", k, v);"""
HELPERS = """
static const char letters[] = "abc def";
static int is_blank(char c) { return c == ' ' || (c >= '\\t' && c <= '\\r') || c == 0; }
static int is_odd(char c) { static int seen; return c == seen; }
static int get(const char *from, char *to, int size)
{ int n = 0; while (n < size - 1 && !is_blank(from[n])) { to[n] = from[n]; n++; } to[n] = 0; return n; }
"""


def loops(loop: str) -> list[str]:
    analysis = analyse(mapper(f"{BEGIN}\n{loop}\n{END}", before=BEFORE, helpers=HELPERS))[0]
    return re.findall(r"copy_ahead\((.*)\);", print_device(analysis.facts.device))


COPIES = {
    "one index": "while (n < 63 && line[n] != ';' && line[n] != 0) { word[n] = line[n]; n++; }",
    "two indexes": "while (n < 63 && !is_blank(line[i])) word[n++] = line[i++];",
    "a for loop": "for (n = 0; n < 63 && line[n] > ' '; n++) word[n] = line[n];",
    "a step by assignment": "while (n < 63 && line[n] > ' ') { word[n] = line[n]; n += 1; }",
    "a guard that ends the program": "while (line[i] > ' ') { if (n == 63) exit(1); word[n++] = line[i++]; }",
    "a guard that leaves": "while (line[i] > ' ') { if (n >= 63) break; word[n++] = line[i++]; }",
    "a guard of the byte": "while (n < 63 && line[i] > ' ') { if (line[i] == 'x') break; word[n++] = line[i++]; }",
    "the bound on the other side": "while (63 > n && line[n] > ' ') { word[n] = line[n]; n++; }",
    "up to a bound": "while (n <= 62 && line[n] > ' ') { word[n] = line[n]; n++; }",
    "a longer index": "while (far < 63 && line[far] > ' ') { word[far] = line[far]; far++; }",
    "unsigned bytes": "while (n < 63 && line[i] > ' ') bytes[n++] = (unsigned char)line[i++];",
    "from an array": "while (n < 7 && letters[n] != ' ') { word[n] = letters[n]; n++; }",
    "a function of the library": "while (n < 63 && isalpha(line[n])) { word[n] = line[n]; n++; }",
    "a helper's": "n = get(line, word, 64);",
}
OTHERS = {
    "another byte is copied": "while (n < 62 && line[n] > ' ') { word[n] = line[n + 1]; n++; }",
    "a changed byte": "while (n < 63 && line[n] > ' ') { word[n] = (char)(line[n] | 32); n++; }",
    "a truth": "while (n < 63 && line[n] > ' ') { word[n] = (_Bool)line[n]; n++; }",
    "the same array": "while (n < 62 && word[n + 1] > ' ') { word[n] = word[n + 1]; n++; }",
    "into the line": "while (n < 63 && other[n] != 0) { line[n] = other[n]; n++; }",
    "more in a round": "while (n < 63 && line[n] > ' ') { word[n] = line[n]; n++; v++; }",
    "a call in a round": "while (n < 63 && line[n] > ' ') { word[n] = line[n]; n++; putchar('x'); }",
    "another step": "while (n < 62 && line[n] > ' ') { word[n] = line[n]; n += 2; }",
    "no step of one": "while (n < 63 && line[i] > ' ') { word[n] = line[i]; n++; }",
    "two steps of one": "while (n < 62 && line[n] > ' ') { word[n++] = line[n]; n++; }",
    "the step first": "while (n < 63 && line[n] > ' ') { n++; word[n] = line[n]; }",
    "a bound that others may change": "while (n < *there && n < 63 && line[n] > ' ') { word[n] = line[n]; n++; }",
    "a variable that others have": "{ int *p = &n; while (n < 63 && line[n] > ' ') { word[n] = line[n]; n++; } v = *p; }",
    "a byte that is compared with a variable": "while (n < 63 && line[n] != c && line[n] != 0) { word[n] = line[n]; n++; }",
    "a helper with a state": "while (n < 63 && !is_odd(line[n]) && line[n]) { word[n] = line[n]; n++; }",
    "a test that acts": "while (n < 63 && (c = line[n]) > ' ') { word[n] = line[n]; n++; }",
    "a narrow index": "while (cut < 63 && line[cut] > ' ') { word[cut] = line[cut]; cut++; }",
    "an index that is cut": "while (n < 63 && line[(signed char)n] > ' ') { word[n] = line[(signed char)n]; n++; }",
    "nothing of the byte": "while (n < 3 && n < v) { word[n] = line[n]; n++; }",
    "an array that may be too small": "while (line[n] > ' ') { pair[n] = line[n]; n++; }",
    "integers": "{ int few[64]; few[0] = 0; while (n < 63 && few[n]) { few[n] = line[n]; n++; } }",
    "a do loop": "do { word[n] = line[n]; n++; } while (n < 63 && line[n] > ' ');",
}


@pytest.mark.parametrize("name", COPIES)
def test_a_loop_that_copies(name: str) -> None:
    assert len(loops(COPIES[name])) == 1


@pytest.mark.parametrize("name", OTHERS)
def test_a_loop_that_does_not(name: str) -> None:
    assert loops(OTHERS[name]) == []


def test_what_is_said_of_it() -> None:
    (found,) = loops(COPIES["a guard that leaves"])
    assert found == "word@private[n$2@private] = line@private[i@private]; n$2@private < 63; in line; (int)hd_c > 32"
