"""A call of an own function that finds what an earlier one found is not followed again, and nothing else is found then."""

from __future__ import annotations

import pytest

from heterodoop.compiler.analysis import flow
from heterodoop.compiler.analysis.flow_findings import Findings
from heterodoop.compiler.analysis.flow_memo import Memo

from ..regions import analyse, mapper

USE = 'printf("%s\\t%d\\n", k, v);'
NEAREST = """int best = 1000, which = -1;
    strncpy(k, line, 31); k[31] = 0;
    for (int w = 0; w < n_words; w++) { int d = distance(k, words[w]); if (d < best) { best = d; which = w; } }
    v = which;"""
PROGRAMS = {
    "nearest": ("static char words[90][32]; static int n_words = 90;\n"
                "static int distance(const char *a, const char *b) "
                "{ int d[9], n = strlen(a); for (int i = 0; i <= n; i++) d[i] = a[i] != b[i]; return d[n]; }", NEAREST),
    "written by the call": ("static void put(char *to, int n) { if (n > 3) to[n] = 0; else to[0] = 1; }",
                            "for (int i = 0; i < 5; i++) put(k, i); v = k[2];"),
    "a global that it reads": ("static int seen; static int next(void) { return seen ? 1 : 2; }",
                               "v = next(); seen = 1; v += next(); k[0] = 0;"),
    "a global by a pointer": ("static int kept; static int *at = &kept; static int next(void) { return *at; }",
                              "v = next(); kept = 1; v += next(); k[0] = 0;"),
    "what an argument is by": ("static char at(const char *s, int n) { return s[n]; }",
                               "for (int i = 0; i < 20; i++) k[i] = at(k, i);"
                               "v = 0; for (int i = 0; i < 3; i++) v += at(k, i);"),
    "numbers of the caller": ("static char table[8]; static char at(int n) { return table[n]; }",
                              "v = 0; k[0] = 0; for (int i = 0; i < 8; i++) v += at(i);"
                              "for (int i = 0; i < 9; i++) v += at(i);"),
    "a call within a call": ("static int one(int n) { return n + 1; } static int two(int n) { return one(n) + one(n); }",
                             "v = two(1) + two(2) + two(1); k[0] = 0;"),
}


def found(program: str) -> tuple[object, ...]:
    findings: Findings = flow.analyse_flow(analyse(program)[0].facts.model)
    return (findings.text(), findings.problems, findings.unproven, findings.touched, findings.reach, findings.inside,
            findings.line_ends, findings.line_texts)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    helpers, body = PROGRAMS[name]
    program = mapper(f"{body} {USE}", helpers=helpers)
    with_memo = found(program)
    monkeypatch.setattr(Memo, "call", lambda *_: None)
    assert found(program) == with_memo


def test_what_a_function_cannot_see_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop over the words goes on until nothing more is learnt of best, which and w; the function is followed twice."""
    helpers, body = PROGRAMS["nearest"]
    model = analyse(mapper(f"{body} {USE}", helpers=helpers))[0].facts.model
    followed, entered = [], flow._Flow._entered
    monkeypatch.setattr(flow._Flow, "_entered", lambda self, function, *rest: (
        followed.append(function.name), entered(self, function, *rest))[1])
    flow.analyse_flow(model)
    assert followed == ["distance"] * 2
