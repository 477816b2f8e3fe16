"""What a thread needs of its own: variables from outside, of the loop, of the deepest calls; each refusal has its place."""

from __future__ import annotations

import pytest

from heterodoop.compiler.decide.stack import MAX_DEPTH, MOST_BYTES
from heterodoop.manifest import Reason

from ..regions import LINES, analyse, combiner, mapper

USE = 'printf("%s\\t%d\\n", k, v);'


def reasons(source: str) -> tuple[Reason, ...]:
    return analyse(source)[0].facts.stack


def refused(source: str) -> Reason:
    (reason,) = reasons(source)
    assert reason.code == "HD245" and f"; {MOST_BYTES} are possible" in reason.message
    return reason


def needed(reason: Reason) -> int:
    return int(reason.message.split()[4])


def test_an_array_from_outside_the_loop() -> None:
    found = refused(mapper(f"big[0] = line[0]; v = big[0]; {USE}", before="static int big[100000];"))
    assert "400000 of them for 'big'" in found.message and found.span.line == LINES + 4


def test_an_array_of_the_loop() -> None:
    found = refused(mapper(f"char b[2000000];\nb[0] = line[0]; v = b[0]; {USE}"))
    assert "2000000 of them for 'b';" in found.message and needed(found) >= 2000000 and found.span.line == LINES + 7


def test_an_array_of_a_helper_of_a_helper() -> None:
    helpers = (
        "static int last(int x) {\n  int t[100000]; t[x] = x; return t[x]; }\n"
        "static int twice(int x) { return 2 * last(x); }"
    )
    found = refused(mapper(f"v = twice(line[0]); {USE}", helpers=helpers))
    assert "400000 of them for 't' in last()" in found.message and found.span.line == LINES + 2


def test_the_deepest_calls_count_and_no_others() -> None:
    def chain(*sizes: int) -> str:
        return "\n".join(
            f"static int f{n}(int x) {{ char t[{size}]; t[x] = (char)x; return t[x] + {f'f{n + 1}(x)' if below else 0}; }}"
            for n, (size, below) in reversed(list(enumerate(zip(sizes, (*[1] * (len(sizes) - 1), 0), strict=True)))))

    three = chain(100000, 100000, 100000)
    assert needed(refused(mapper(f"v = f0(line[0]); {USE}", helpers=three))) > 300000
    assert not reasons(mapper(f"v = f1(line[0]); {USE}", helpers=three)), "two of them"
    assert not reasons(mapper(f"v = f2(line[0]) + f2(line[1]) + f2(line[2]); {USE}", helpers=three)), "one after the other"
    assert needed(refused(mapper(f"char b[100000]; b[0] = 1; v = b[0] + f1(line[0]); {USE}", helpers=three))) > 300000


def test_many_arrays_that_are_small() -> None:
    many = " ".join(f"{{ char b{n}[60000]; b{n}[0] = line[0]; v = b{n}[0]; }}" for n in range(5))
    assert 300000 <= needed(refused(mapper(many + USE))) < 301000


def test_calls_within_each_other_count_as_often_as_the_stack_holds_them() -> None:
    deep = "static int deep(int x) {\n  char t[5000]; t[0] = (char)x; return x > 0 ? deep(x - 1) + t[0] : 0; }"
    found = refused(mapper(f"v = deep(3); {USE}", helpers=deep))
    assert f"{MAX_DEPTH * 5000} of them for 't' in {MAX_DEPTH} calls of deep()" in found.message
    assert found.span.line == LINES + 2
    pair = ("static int b(int); static int a(int x) { char t[2500]; t[0] = (char)x; return x ? b(x - 1) + t[0] : 0; }"
            "static int b(int x) { char t[2500]; t[0] = (char)x; return a(x) + t[0]; }")
    assert needed(refused(mapper(f"v = a(3); {USE}", helpers=pair))) >= MAX_DEPTH * 5000, "both of two that call each other"
    assert not reasons(mapper(f"v = deep(3); {USE}", helpers=deep.replace("5000", "500")))


@pytest.mark.parametrize("body", [
    "struct big { int t[100000]; }; struct big b, c; b.t[0] = line[0]; c = b; v = c.t[0];",
    "v = (int[100000]){1}[line[0] & 1];",
    "v = make().t[0];",
])
def test_structs_literals_and_results(body: str) -> None:
    helpers = "struct huge { int t[70000]; }; static struct huge make(void) { struct huge h; h.t[0] = 1; return h; }"
    refused(mapper(f"{body} {USE}", helpers=helpers if "make" in body else ""))


def test_a_combiner() -> None:
    before = "char prev[32], word[32]; int count = 0, val; prev[0] = 0;"
    body = ('char b[300000]; b[0] = word[0]; if (strcmp(prev, word)) { if (count) printf("%s\\t%d\\n", prev, count); '
            "strcpy(prev, word); count = 0; } count += val;")
    refused(combiner(body, before=before, flush='if (count) printf("%s\\t%d\\n", prev, count);'))


def test_a_long_chain_of_helpers_is_counted_soon() -> None:
    helpers = "static int f0(int x) { return x; }" + "".join(
        f"static int f{n}(int x) {{ return f{n - 1}(x) + 1; }}\n" for n in range(1, 300))
    analysis, _ = analyse(mapper(f"v = f299(1); {USE}", helpers=helpers))
    assert not analysis.facts.stack and analysis.facts.times.seconds["stack"] < 1
