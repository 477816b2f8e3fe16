"""Spellings of the record loop, and loops that look like one and are none."""

from __future__ import annotations

import pytest

from heterodoop.compiler.ir import ir
from heterodoop.compiler.ir.text import expr_text
from heterodoop.compiler.normalise.token_formats import why_no_tokens

from ..regions import COMBINER, MAPPER, analyse

DECLARED = "char buf[99], *line = NULL, *p; size_t cap = 0, un; ssize_t n; int v = 0, r, i; char k[32];"


def program(loop: str, pragma: str = MAPPER, declared: str = DECLARED) -> ir.Program:
    return analyse(f"int main(void) {{ {declared}\n{pragma}\n{loop}\nreturn 0; }}")[0].program


GETLINE = "getline(&line, &cap, stdin)"
RECORDS = {
    f"while ((n = {GETLINE}) != -1) v = 1;": "getline",
    f"while ((n = {GETLINE}) > 0) v = 1;": "getline",
    f"while ((n = {GETLINE}) >= 0) v = 1;": "getline",
    f"while (-1 < (n = {GETLINE})) v = 1;": "getline",
    f"while ({GETLINE} != EOF) v = 1;": "getline",
    f"while (!((r = {GETLINE}) < 0)) v = 1;": "getline",
    f"while (1 + (n = {GETLINE})) v = 1;": "getline",
    f"while ((un = {GETLINE}) != -1) v = 1;": "getline",
    f"while (n = {GETLINE}, n > 0) v = 1;": "getline",
    f"for (; (n = {GETLINE}) != -1;) v = 1;": "getline",
    f"while (1) {{ if ((n = {GETLINE}) == -1) break; v = 1; }}": "getline",
    f"for (;;) {{ n = {GETLINE}; if (n < 0) break; v = 1; }}": "getline",
    f"while (1) {{ ssize_t m = {GETLINE}; if (m <= 0) {{ break; }} v = (int)m; }}": "getline",
    f"while (1) {{ if ({GETLINE} == -1) break; else v = 1; v = 2; }}": "getline",
    "while (getdelim(&line, &cap, '\\n', stdin) > 0) v = 1;": "getline",
    "while (fgets(buf, sizeof buf, stdin)) v = 1;": "fgets",
    "while (fgets(buf, 99, stdin) != NULL) v = 1;": "fgets",
    "while ((p = fgets(buf, 99, stdin)) != NULL) v = 1;": "fgets",
    "while (NULL != fgets(buf, 99, stdin)) v = 1;": "fgets",
    "for (; fgets(buf, 99, stdin) == buf;) v = 1;": "",  # that buf is what fgets gives is not known
    "while (1) { char b[50]; if (!fgets(b, 50, stdin)) break; v = b[0]; }": "fgets",
    "while (scanf(\"%31s\", k) == 1) v = 1;": "scanf",
    "while (scanf(\" %31s\", k) > 0) v = 1;": "scanf",
    "while (scanf(\"%s\", k) != EOF) v = 1;": "scanf",
    "while (fscanf(stdin, \"%31s\", k) == 1) v = 1;": "scanf",
    "while (!feof(stdin)) { if (fgets(buf, 99, stdin) == NULL) break; v = 1; }": "fgets",
    "while (feof(stdin) == 0) { if (!fgets(buf, 99, stdin)) continue; v = 1; }": "fgets",
    "for (; !feof(stdin);) { if (fgets(buf, 99, stdin)) { v = 1; } }": "fgets",
    "do { if (fgets(buf, 99, stdin) == NULL) break; v = 1; } while (!feof(stdin));": "fgets",
    "do { if (fgets(buf, 99, stdin) == NULL) break; v = 1; } while (1);": "fgets",
    f"while (!feof(stdin)) {{ n = {GETLINE}; if (n == -1) break; v = 1; }}": "getline",
    f"while (!feof(stdin)) {{ ssize_t m = {GETLINE}; if (m < 0) break; v = (int)m; }}": "getline",
    "while (!feof(stdin)) { if (scanf(\"%31s\", k) != 1) break; v = 1; }": "scanf",
    "while (scanf(\"%d\", &v) == 1) r = 1;": "scanf",
    "while (scanf(\"%31s%98s\", k, buf) == 2) v = 1;": "scanf",
    "while (scanf(\"%31s %d\", k, &v) == 2) r = 1;": "scanf",
    "while (scanf(\" %98[^\\n]\", buf) == 1) v = 1;": "scanf",
    f"while (1) {{ n = {GETLINE}; v = 1; if (n == -1) break; }}": "getline",
    f"while (1) {{ if ({GETLINE} == -1) {{ v = 2; break; }} }}": "getline",
    "for (;; v++) { char *q = buf; q = fgets(q, 99, stdin); if (q) v = 1; if (q == NULL) break; }": "fgets",
    # none
    "while (!feof(stdin)) { fgets(buf, 99, stdin); v = 1; }": "",
    "while (!feof(stdin)) { if (fgets(buf, 99, stdin)) { v = 1; } v = 2; }": "",
    "while (!feof(stdin)) { if (fgets(buf, 99, stdin)) { break; } }": "",
    "while (!feof(stdin)) { if (fgets(buf, 99, stdin)) v = 1; else v = 2; }": "",
    "while (!feof(stdin) && v < 9) { if (!fgets(buf, 99, stdin)) break; v = 1; }": "",
    "while (!feof(f)) { if (!fgets(buf, 99, stdin)) break; v = 1; }": "",
    f"while (!feof(stdin)) {{ *(&n) = {GETLINE}; if (n == -1) break; v = 1; }}": "",
    "do { if (fgets(buf, 99, stdin)) v = 1; } while (1);": "",  # never ends
    f"while ((n = {GETLINE}) != -1 && v < 9) v = 1;": "",
    f"while ((n = {GETLINE}) > 1) v = 1;": "",  # an empty line ends it
    f"while ((n = {GETLINE}) != 77) v = 1;": "",
    f"while ((un = {GETLINE}) >= 0) v = 1;": "",  # never ends
    f"while ({GETLINE}) v = 1;": "",
    f"do v = 1; while ({GETLINE} != -1);": "",
    f"while (1) {{ v++; if ({GETLINE} == -1) break; }}": "",
    f"while (1) {{ if ({GETLINE} == -1) {{ puts(buf); break; }} }}": "",
    f"while (1) {{ if ({GETLINE} == -1) return 1; }}": "",
    f"while (1) {{ n = {GETLINE}; puts(buf); if (n == -1) break; }}": "",
    f"while (1) {{ n = {GETLINE}; if ({GETLINE} == -1) break; }}": "",
    "while (!feof(stdin)) { p = fgets(buf, 99, stdin); v = 1; }": "",
    "while ((r = getchar()) != EOF) { v = 1; puts(buf); if (r == EOF) puts(k); }": "getline",
    "while ((r = getchar()) != 'x') v = 1;": "",  # goes on at the end
    "while (1) { r = getchar(); puts(buf); if (r == EOF) break; }": "",
    "while ((r = fgetc(f)) != EOF) v = 1;": "",
    "while (getdelim(&line, &cap, ';', stdin) > 0) v = 1;": "",
    "while (fgets(buf, 99, f)) v = 1;": "",
    "while (scanf(\"%d\", &v) != EOF) r = 1;": "",  # never ends at a word that is no number
    "while (scanf(\"%d\", &v) >= 0) r = 1;": "",
    "while (scanf(\"%31[a-z]\", k) == 1) r = 1;": "",
    "while (scanf(\"%31s \", k) == 1) v = 1;": "",  # the white space behind it eats the next lines' ends
    "while (scanf(\"%31s\", k) == 2) v = 1;": "",
    "while (v++ < 3) r = 1;": "",
}


@pytest.mark.parametrize("loop", RECORDS)
def test_spelling(loop: str) -> None:
    made = program(loop, declared=DECLARED + ' FILE *f = fopen("x", "r");')
    found = ir.record_loop(made.region)
    kind = RECORDS[loop]
    assert (found is not None) == bool(kind)
    assert ("HD228" in {r.code for r in made.refusals}) == (not kind)
    if found is not None:
        assert {"getline": "__read_getline", "fgets": "__read_fgets", "scanf": "__read_pair"}[kind] in expr_text(found.cond)


def test_what_a_read_assigns_is_not_seen_behind_a_loop_that_asks_for_the_end() -> None:
    loop = f"while (!feof(stdin)) {{ n = {GETLINE}; if (n == -1) break; v = 1; }}"
    seen = analyse(f"int main(void) {{ {DECLARED}\n{MAPPER}\n{loop}\nreturn n == -1; }}")[0].program
    assert ir.record_loop(seen.region) is None
    [reason] = [r for r in seen.refusals if r.code == "HD228"]
    assert "feof() is true only after a read has met the end" in reason.message and "getline" in reason.message


def test_break_form_becomes_the_condition() -> None:
    made = program(f"for (;; v++) {{ n = {GETLINE}; if (n < 0) break; r = v; }}")
    loop = ir.record_loop(made.region)
    assert loop is not None and loop.step is not None
    assert expr_text(loop.cond) == "!(n = __read_getline(&line, &cap), n < 0L)"
    assert (expr_text(loop.step), len(loop.body.body)) == ("v++", 1)


def test_declarations_move_before_the_loop() -> None:
    made = program("while (1) { char b[50]; if (!fgets(b, 50, stdin)) break; v = b[0]; }")
    assert [type(s) for s in made.region.body.body] == [ir.Decl, ir.RecordLoop]


def test_several_variables_of_a_for() -> None:
    made = program("for (int a = 0, b = 1; fgets(buf, 99, stdin); a++) v = a + b;")
    assert [type(s) for s in made.region.body.body] == [ir.Decl, ir.Decl, ir.RecordLoop]


def test_combiner_block() -> None:
    pair = 'scanf("%8s %d", word, &val)'
    declared = "char word[9], prev[9]; int count = 0, val, more = 0;"
    made = program(f"{{ more = 1; while ({pair} == 2) count += val; puts(prev); }}", COMBINER, declared)
    assert [type(s) for s in made.region.body.body] == [ir.ExprStmt, ir.RecordLoop, ir.ExprStmt]
    twice = program(f"{{ {pair}; while ({pair} == 2) count += val; }}", COMBINER, declared)
    assert ir.record_loop(twice.region) is not None  # the read before it is for `uses` to refuse


@pytest.mark.parametrize(
    ("reader", "name"), [("(n = getchar()) != 'x'", "read by getchar"), ("fgetc(stdin) != 10", "read by fgetc"),
                         ("getdelim(&line, &cap, ' ', stdin) > 0", "getdelim() reads past line ends")])
def test_byte_readers_are_named(reader: str, name: str) -> None:
    [reason] = [r for r in program(f"while ({reader}) v = 1;").refusals if r.code == "HD228"]
    assert name in reason.message and ":" in reason.place


TOKENS = (b"%s", b"%31s", b" %s", b"%s%s", b"%d", b"%31s %lf", b" %99[^\n]", b"%d,%d", b"%s %*s %d", b"%x%hhd",
          b" (%d", b" %[0-9-]")
NO_TOKENS = {
    b"%s ": "leave it out", b"%*s": "by sscanf", b"%ms": "by sscanf", b"%ls": "by sscanf", b"%c": "by sscanf",
    b"%s%n": "by sscanf", b"": "by sscanf", b"%d;": "by sscanf", b"%[a-z]": "a blank before", b"x%s": "a blank before",
    b" %[^,]": "among what it stops at", b" %[\n-~]": "among what it stops at", b" %[^,\n]\n": "leave it out",
}


def test_token_formats() -> None:
    assert [text for text in TOKENS if why_no_tokens(text)] == []
    assert [text for text, advice in NO_TOKENS.items() if advice not in why_no_tokens(text)] == []


FOLDING = "#pragma mapreduce combiner key(k) value(v) keyin(buf) valuein(r) keylength(32) vallength(1)"


@pytest.mark.parametrize(("loop", "pragma"), [
    ("while (!feof(stdin)) { v = 1; }", MAPPER), ("for (;;) { n = getline(&line, &cap, stdin); v = 1; }", MAPPER),
    ("while ((n = getchar()) != 'x') { v = 1; }", MAPPER),
    ("{ while (!feof(stdin)) { v = 1; } }", FOLDING),
])
def test_a_loop_that_is_none_is_told_what_to_write(loop: str, pragma: str) -> None:
    reasons = [r for r in program(loop, pragma).refusals if r.code == "HD228"]
    assert len(reasons) == 1 and reasons[0].place
    assert ("scanf(\"%31s %d\"" if pragma == FOLDING else "getline") in reasons[0].message
