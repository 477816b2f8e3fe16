"""Statement expressions and unnamed arrays go ahead of their statement, where that is the same program."""

from __future__ import annotations

import pytest

from ..regions import analyse, mapper

HELPERS = (
    "static int g; static int bump(void) { return ++g; } static int add(const int *p, int n) { return p[0] + n; }\n"
    "#define MAX(a, b) ({ __typeof__(a) _a = (a), _b = (b); _a > _b ? _a : _b; })\n"
)
END = "k[0] = 'a'; k[1] = 0; printf(\"%s\\t%d\\n\", k, v);"

TAKEN = (
    "v = MAX((int)n, 3);", "v = MAX(v + 1, (int)n) + MAX(2, 3);", "int i = 0; v = 100 / MAX(i++, (int)n);",
    "v = ({ int t = 0; while (t < n) t++; t; });", "if (({ int q = n & 1; q; })) v++;", "v = ({ v++; v; });",
    "switch (MAX((int)n, 1)) { case 1 ... 3: v = 1; }", "({ v = 2; });", "v = add((int[]){n, 2}, v);",
    "printf(\"b\\t%d\\n\", MAX(v, abs(v)));", "v = n ?: 4;", "v = abs(v) ?: 2;",
)
REFUSED = {  # C statement -> what the reason says
    "v = v++ + MAX(v, 3);": "with other effects", "v = bump() + MAX(g, 3);": "with other effects",
    "v = bump() + ({ g = 3; g; });": "with other effects", "v = ({ v = 3; v; }) + v;": "with other effects",
    "v = add((int[]){v++, 2}, v);": "with other effects",
    "while (v < MAX((int)n, 3)) v++;": "in a condition or a loop's head",
    "v = n > 3 && MAX((int)n, 9);": "in a condition or a loop's head",
    "for (int i = 0; i < n; i += MAX(1, 2)) v++;": "in a condition or a loop's head",
    "while (v < (abs(v) ?: 3)) v++;": "middle operand left out",
    "switch (n) { case 1 ... 5000: v = 1; }": "case range of 5000 numbers",
    "int a[4] = { [0 ... 3] = v++ };": "range designator",
}


@pytest.mark.parametrize("source", TAKEN)
def test_taken(source: str) -> None:
    analysis, errors = analyse(mapper(f"v = 0;\n{source}\n{END}", helpers=HELPERS))
    assert not errors and not analysis.refusals, analysis.refusals


@pytest.mark.parametrize("source", REFUSED)
def test_refused_at_its_place(source: str) -> None:
    text = mapper(f"v = 0;\n{source}\n{END}", helpers=HELPERS)
    reasons = [reason for reason in analyse(text)[0].refusals if reason.code == "HD330"]
    assert any(REFUSED[source] in reason.message and reason.span.line for reason in reasons), reasons


def test_an_unnamed_array_before_the_loop_stays_where_it_is() -> None:
    """The prologue has no name for a variable that the program does not have."""
    text = mapper(f"v = p[n & 1]; {END}", before="int *p = (int[]){1, 2}; p[0] = 2;")
    assert "HD248" in {reason.code for reason in analyse(text)[0].refusals}
