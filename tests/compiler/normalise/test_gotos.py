"""Jumps that become structured control flow, and those that have no other form."""

from __future__ import annotations

import pytest

from heterodoop.compiler.ir import ir
from heterodoop.compiler.ir import walk as ir_walk
from heterodoop.compiler.ir.text import print_ir

from ..regions import analyse, mapper

LAST = ' strcpy(k, "x"); printf("%s\\t%d\\n", k, v);'
HELPER = "static int f(const char *s) {{ int i = 0, r = 1; {} }}\n"


def helper(body: str) -> str:
    """The helper's text without labels."""
    analysis, _ = analyse(mapper("v = f(line);" + LAST, helpers=HELPER.format(body)))
    assert not analysis.refusals, analysis.refusals
    assert not any(isinstance(n, (ir.Goto, ir.Label)) for n in ir_walk.walk(analysis.program.by_name["f"].body))
    text = print_ir(analysis.program)
    start = text.index("{", text.rindex("f(const char *s)"))
    return " ".join(text[start : text.index("\n}", start)].split())


# body -> what a part of it becomes
TAKEN = {
    "if (*s) goto bad; r = 2; return r; bad: return 3;": "if (*s) { } else { r = 2; return r; } return 3;",
    "if (*s) { r = 5; goto bad; } r = 2; bad: return r;": "{ r = 5; } else { r = 2; } return r;",
    "if (*s) { if (s[1]) goto out; r = 7; } r++; out: return r;":
        "if (s[1]) { out$2 = 1; } else { r = 7; } } if (!out$2) { r++; } return r;",
    "if (*s) { r = 5; } else { if (s[1]) goto out; r = 7; } r++; out: return r;": "if (!out$2) { r++; } return r;",
    "if (*s) { r = 5; } else { goto out; } r++; out: return r;": "if (*s) { r = 5; r++; } return r;",
    "for (; i < 9; i++) if (s[i] == 'x') goto out; r = 0; out: return r;": "{ out$2 = 1; break; } } if (!out$2) { r = 0; }",
    "for (; i < 9; i++) if (s[i] == 'x') goto out; out: return i;": "{ break; } } return i;",
    "switch (*s) { case 'a': goto out; case 'b': r = 2; } r++; out: return r;": "case 97: out$2 = 1; break; case 98: r = 2;",
    "again: if (s[i] == ' ') { i++; goto again; } return i;":
        "do { again$2 = 0; if ((int)s[i] == 32) { i++; again$2 = 1; cont",
    "for (;;) { again: i++; if (i > 20) break; if (s[i] == ' ') goto again; r += i; if (r > 90) break; } return r;":
        "again$2 = 1; continue; }",
    "if (*s) goto out; int late = 4; r = late; out: late = 3; return r + late;": "int late = 4;",
    "if (*s) goto out; const int late = s[1]; r = late; out: return r;": "else { late = (int)s[1]; r = late; }",
    "for (; i < 9; i++) { if (s[i] == 'x') goto next; switch (s[i]) { case 'y': goto next; } r++; next: ; } return r;":
        "case 121: continue; }",
    "for (; i < 9; i++) { while (s[r]) { if (s[r] == 'x') goto next; r++; } r = 1; next: ; } return r;":
        "if (next$2) { continue; } r = 1;",
    "unused: return r;": "int r = 1; return r;",
}


@pytest.mark.parametrize("body", TAKEN)
def test_a_jump_is_taken(body: str) -> None:
    assert TAKEN[body] in helper(body)


def test_a_jump_to_the_records_end_is_a_continue() -> None:
    analysis, _ = analyse(mapper("v = 1; if (n < 3) goto next;" + LAST + " next: ;"))
    assert not analysis.refusals and analysis.has_kernel
    [then] = [n.then for n in ir_walk.walk(analysis.program.region.body) if isinstance(n, ir.If)]
    assert [type(s) for s in then.body] == [ir.Continue]


def test_what_nothing_reaches_goes_and_its_variables_with_it() -> None:
    assert "gone" not in helper("goto out; { int gone = 3; r = gone; } out: ; int here = r; return here;")


# body of the record loop -> the reason
REFUSED = {
    "if (n < 3) goto in; if (n > 9) { in: v = 1; }": "goto in jumps into a block or loop: put the label behind it",
    "if (n < 3) goto out;": "goto out leaves the record loop: write continue",
    "switch (n) { case 1: goto two; case 0: v = 1; case 2: two: v = 2; }": "goto two jumps over a case: write what it skips",
    "switch (n) { case 1: up: v = 1; case 2: if (v++ < 3) goto up; }": "goto up jumps back over a case: write it as a loop",
    "if (n < 3) goto in; up: v = 1; in: if (v++ < 3) goto up;": "goto in jumps into what goto up repeats: write that as",
    "if (n < 3) goto out; char t[9] = {line[0]}; v = t[0]; out: v += n;": "goto out jumps over the declaration of 't': decl",
    "up: ; char t[9] = \"ab\"; v = t[0]; if (n-- > 3) goto up;": "of 't': declare it before the label",
}


@pytest.mark.parametrize("body", REFUSED)
def test_a_jump_that_has_no_other_form(body: str) -> None:
    text = mapper("v = 0; " + body + LAST, after="out: ;" if "leaves" in REFUSED[body] else "")
    reasons = [r for r in analyse(text)[0].refusals if r.code == "HD216"]
    assert len(reasons) == 1 and REFUSED[body] in reasons[0].message and reasons[0].span.line


def test_a_jump_into_the_region() -> None:
    text = mapper("v = 0; in: v++;" + LAST, before="if (argc) goto in;").replace("main(void)", "main(int argc, char **argv)")
    reasons = [r for r in analyse(text)[0].refusals if r.code == "HD216"]
    assert len(reasons) == 1 and "goto in jumps into the region from outside" in reasons[0].message
