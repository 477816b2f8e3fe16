"""Key loops in many spellings, as text; what is none, with the reason; what goes to the manifest and to `explain`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heterodoop.compiler.keyloop.fold import Recognised
from heterodoop.compiler.keyloop.loop_text import loop_text
from heterodoop.explain import _region_lines
from heterodoop.manifest import Fold, FoldField, PairReader

from ..regions import PRELUDE, analyse, combiner

PRAGMA = "#pragma mapreduce combiner key({}) value({}) keyin(word) valuein(v) keylength(32) vallength(1)"
BEFORE = "char word[32], prev[32]; int v, w; long s = 0, n = 0; int lo = 0, hi = 0; double x, d = 0; prev[0] = 0;"
LINES = BEFORE.replace("word[32], ", "*word, *tab, *end, *line = NULL, ") + " size_t cap = 0;"
ONE = 'while (scanf("%31s %d", word, &v) == 2)'
TWO = 'while (scanf("%31s %d %d", word, &v, &w) == 3)'
REAL = 'while (scanf("%31s %lf", word, &x) == 2)'
LINE = "while (getline(&line, &cap, stdin) != -1)"
CUT = "tab = strchr(line, '\\t'); *tab = 0; word = line; "


def written(
    body: str, emit: str, *, loop: str = ONE, before: str = BEFORE, helpers: str = "", flush: str = "if (prev[0]) EMIT",
    key: str = "prev", value: str = "s", after: str = "",
) -> str:
    parts = {name: text.replace("EMIT", emit) for name, text in (("body", body), ("flush", flush), ("helpers", helpers))}
    return combiner(parts["body"], before=before, loop=loop, flush=parts["flush"], helpers=parts["helpers"], after=after,
                    pragma=PRAGMA.format(key, value))


def usual(first: str, same: str, emit: str, **others: str) -> str:
    """By strcmp, the first key by an empty text."""
    body = f"if (strcmp(word, prev) == 0) {{ {same} }} else {{ if (prev[0]) EMIT strcpy(prev, word); {first} }}"
    return written(body, emit, **others)


def recognised(source: str, wanted: tuple[str, ...]) -> Recognised:
    """It is a key loop, with these parts in its text."""
    found = analyse(source)[0].facts.fold
    assert found.loop is not None, f"{found.no_loop} {found.place}"
    text = loop_text(found.loop)
    assert [part for part in wanted if part not in text] == [], text
    return found


def line(first: str, same: str, emit: str, cut: str) -> str:
    body = f"if (strcmp(word, prev) == 0) {{ {same} }} else {{ if (prev[0]) EMIT strcpy(prev, word); {first} }}"
    return written(f"{cut} {body}", emit, loop=LINE, before=LINES)


SUMS = ("s = v; n = w;", "s += v; n += w;", 'printf("%s\\t%ld %ld\\n", prev, s, n);')
SUMS_TEXT = ("long s = (long)v0, then (s + (long)v0)", "long n = (long)v1, then (n + (long)v1)")
COUNT = 'printf("%s\\t%ld %ld\\n", prev, s, n);'
COUNT_TEXT = ("value int", "long s = (long)v0, then (s + (long)v0)", "long n = 1, then (n + 1)",
              'print KEY "\\t" %ld:s " " %ld:n "\\n"')
HELPERS = (
    "struct st { char key[32]; long sum, n; int lo; };"
    " static void add(struct st *p, int v) { p->sum += v; p->n++; if (v < p->lo) p->lo = v; }"
    " static void begin(struct st *p, const char *k, int v) { strcpy(p->key, k); p->sum = v; p->n = 1; p->lo = v; }"
    " static void put(const struct st *p) { if (!p->key[0]) return;"
    ' printf("%s\\t%ld %ld %d\\n", p->key, p->sum, p->n, p->lo); }'
)

LOOPS: dict[str, tuple[str, tuple[str, ...]]] = {
    # what is kept
    "everything, from constants": (written(
        "if (strcmp(word, prev)) { if (prev[0]) EMIT strcpy(prev, word); lo = 2147483647; hi = -2147483647 - 1; s = n = 0; }"
        " if (v < lo) lo = v; if (v > hi) hi = v; s += v; n++;", 'printf("%s\\t%d %d %ld %ld\\n", prev, lo, hi, s, n);'),
        ("int lo = v0, then ((v0 < lo) ? v0 : lo)", "int hi = v0, then ((v0 > hi) ? v0 : hi)", *COUNT_TEXT[1:3])),
    "squares": (usual("s = v * v;", "s += v * v;", 'printf("%s\\t%ld\\n", prev, s);'),
                ("long s = (long)(v0 * v0), then (s + (long)(v0 * v0))",)),
    "a mean": (usual("s = v; n = 1;", "s += v; n++;", 'printf("%s\\t%.2f\\n", prev, (double)s / n);'),
               ("long n = 1, then (n + 1)", 'print KEY "\\t" %.2f:((double)s / (double)n) "\\n"')),
    "a mean of integers": (usual("s = v; n = 1;", "s += v; n++;", 'printf("%s\\t%ld\\n", prev, s / n);'),
                           ('print KEY "\\t" %ld:(s / n) "\\n"',)),
    "sums of doubles": (usual("d = x;", "d += x;", 'printf("%s\\t%.17g\\n", prev, d);', loop=REAL),
                        ("value double", "double d = v0, then (d + v0)", 'print KEY "\\t" %.17g:d "\\n"')),
    "0.0 and -0.0 is 0.0": (written(
        "if (strcmp(word, prev)) { if (prev[0]) EMIT strcpy(prev, word); d = 0; } d += x;",
        'printf("%s\\t%g\\n", prev, d);', loop=REAL), ("double d = (0.0 + v0), then (d + v0)",)),
    "the longest run": (usual(
        "lo = v; hi = n = 1;", "n = v == lo ? n + 1 : 1; lo = v; if (n > hi) hi = n;", 'printf("%s\\t%d\\n", prev, hi);'),
        ("int lo = v0, then v0", "long n = 1, then ((v0 == lo) ? (n + 1) : 1)")),
    "only many": (usual("n = 1;", "n++;", 'if (n > 2) printf("%s\\t%ld\\n", prev, n);'),
                  ('print KEY "\\t" %ld:n "\\n" if (n > 2)',)),
    "one of two lines": (usual(
        "n = 1;", "n++;", 'if (n > 2) printf("%s\\tmany\\n", prev); else printf("%s\\t%ld\\n", prev, n);'),
        ('print KEY "\\tmany\\n" if (n > 2)', 'print KEY "\\t" %ld:n "\\n"')),
    "some values only": (usual("n = v > 3;", "if (v > 3 && v < 9) n++;", 'printf("%s\\t%ld\\n", prev, n);'),
                         ("long n = (long)(v0 > 3), then (((v0 > 3) ? (v0 < 9) : 0) ? (n + 1) : n)",)),
    "by a switch": (usual(
        "s = 0;", "switch (v % 4) { case 0: s++; break; case 1: { s += 2; } default: s *= 3; break;"
        " case 2: s--; }",
        'printf("%s\\t%ld\\n", prev, s);'),
        ("long s = 0, then (((v0 % 4) == 0) ? (s + 1) : (((v0 % 4) == 1) ? ((s + 2) * 3) : "
         "(((v0 % 4) == 2) ? (s - 1) : (s * 3))))",)),
    "a constant's switch": (usual(
        "lo = 1; s = v;", "switch (lo) { case 0: s = 0; break; case 1: s += v; break; default: s = 1; }",
        'printf("%s\\t%ld\\n", prev, s);'), ("long s = (long)v0, then (s + (long)v0)",)),
    "of each what it is without its sign": (usual(
        "s = labs(v); lo = abs(-3);", "if (abs(v) > s) s = llabs(v); lo = abs(lo - v);",
        'printf("%s\\t%ld %d\\n", prev, s, lo);'),
        ("long s = abs((long)v0), then (((long)abs(v0) > s) ? abs((long long)v0) : s)", "int lo = 3, then abs((lo - v0))")),
    "a root": (usual("d = fabs(x);", "d += x * x;", 'printf("%s\\t%g\\n", prev, sqrt(d) / 2);', loop=REAL),
               ("double d = fabs(v0), then (d + (v0 * v0))", 'print KEY "\\t" %g:(sqrt(d) / 2.0) "\\n"')),
    "bits": (usual("lo = v; hi = v;", "lo |= v; hi ^= v;", 'printf("%s\\t%d %d\\n", prev, lo, hi);'),
             ("int lo = v0, then (lo | v0)", "int hi = v0, then (hi ^ v0)")),
    # where a key begins
    "a count of 64 bits as flag": (written(
        "if (n == 0 || strcmp(word, prev) != 0) { if (n > 0) EMIT strcpy(prev, word); s = 0; n = 0; } s += v; n += 1;",
        COUNT, flush="if (n) EMIT"), COUNT_TEXT),
    "a count of 32 bits as flag, which may come to 0": (written(
        "if (hi && strcmp(word, prev) == 0) hi++; else { if (hi) EMIT strcpy(prev, word); hi = 1; }",
        'printf("%s\\t%d\\n", prev, hi);', flush="if (hi) EMIT"),
        ("int hi = 1, then ((hi != 0) ? (hi + 1) : 1)", 'print KEY "\\t" %d:hi "\\n" if (hi != 0)')),
    "first": (written("if (lo) { lo = 0; strcpy(prev, word); s = v; n = 1; continue; }"
                      " if (strcmp(word, prev)) { EMIT memcpy(prev, word, strlen(word) + 1); s = n = 0; } s += v; n++;",
                      COUNT, before=BEFORE.replace("lo = 0", "lo = 1"), flush="if (!lo) EMIT"), COUNT_TEXT[1:]),
    "printed where another key comes": (written(
        "if (prev[0] && strcmp(word, prev)) { EMIT s = n = 0; } strcpy(prev, word); s += v; n++;", COUNT), COUNT_TEXT[1:]),
    # where it is kept
    "globals": (written("if (!strcmp(word, prev)) { s += v; n++; } else { put(); strcpy(prev, word); s = v; n = 1; }", COUNT,
                        before="char word[32]; int v;", flush="put();",
                        helpers="static char prev[32]; static long s, n; static void put(void) { if (*prev) EMIT }"),
                COUNT_TEXT[1:]),
    "a struct behind pointers": (written(
        "if (strcmp(word, cur.key) == 0) add(&cur, v); else { put(&cur); begin(&cur, word, v); }", "", helpers=HELPERS,
        before="struct st cur; char word[32]; int v; cur.key[0] = 0;", flush="put(&cur);", key="cur", value="cur"),
        ("long cur.sum = (long)v0, then (cur.sum + (long)v0)", "int cur.lo = v0, then ((v0 < cur.lo) ? v0 : cur.lo)")),
    "a struct that its helper gives the same name": (written(
        "if (cur.n == 0 || strcmp(cur.key, word) != 0) { put(&cur); strcpy(cur.key, word); cur.sum = cur.n = 0; }"
        " cur.sum += v; cur.n++;", "", helpers="struct st { char key[32]; long sum, n; }; static void put(struct st *cur)"
        ' { if (cur->n) printf("%s\\t%ld %ld\\n", cur->key, cur->sum, cur->n); }',
        before='struct st cur = {"", 0, 0}; char word[32]; int v;', flush="put(&cur);", key="cur", value="cur"),
        ("long cur.sum = (long)v0, then (cur.sum + (long)v0)", "long cur.n = 1, then (cur.n + 1)")),
    "a sum as flag, tested both ways": (written(
        "if (n == 0 || strcmp(word, prev)) { if (n) EMIT strcpy(prev, word); d = 0; n = 0; } d += x; n += v;",
        'printf("%s\\t%.17g %ld\\n", prev, d, n);', flush="if (n != 0) EMIT",
        loop=REAL.replace('%lf", word, &x) == 2', '%lf %d", word, &x, &v) == 3')),
        ("double d = (0.0 + v0), then (((n == 0) ? 0.0 : d) + v0)", 'print KEY "\\t" %.17g:d " " %ld:n "\\n" if (n != 0)')),
    "through a pointer": (usual("s = v;", "grow(&s, v);", 'printf("%s\\t%ld\\n", prev, s);',
                                helpers="static void grow(long *p, int by) { *p += by; }"), COUNT_TEXT[:2]),
    # how it is read
    "scanf and commas": (usual(*SUMS, loop=TWO.replace("%d %d", "%d , %d")), ('value int "," int', *SUMS_TEXT)),
    "scanf, comma and blank as printed": (usual(
        *SUMS[:2], SUMS[2].replace("%ld %ld", "%ld, %ld"), loop=TWO.replace("%d %d", "%d, %d")), ('value int ", " int',)),
    "to the end of the file": (usual(*SUMS, loop=TWO.replace("== 3", "!= EOF")), SUMS_TEXT),
    "strtok": (line(*SUMS, 'word = strtok(line, "\\t"); v = atoi(strtok(NULL, ",")); w = atoi(strtok(NULL, "\\n"));'),
               ('value int "," int', *SUMS_TEXT)),
    "strtok_r": (line(*SUMS, 'word = strtok_r(line, "\\t", &end); v = atoi(strtok_r(NULL, " ", &end));'
                             ' w = atoi(strtok_r(NULL, "\\n", &end));'), ('value int " " int', *SUMS_TEXT)),
    "strtol on and on": (line(*SUMS, CUT + "v = strtol(tab + 1, &end, 10); w = strtol(end, &end, 10);"),
                         ('value int " " int', *SUMS_TEXT)),
    "strtol behind any byte": (line(*SUMS, CUT + "v = strtol(tab + 1, &end, 10); w = strtol(end + 1, NULL, 10);"),
                               ('value int " " int', *SUMS_TEXT)),
    "strchr": (line(*SUMS, CUT + "v = atoi(++tab); tab = strchr(tab, ':'); w = atoi(tab + 1);"),
               ('value int ":" int', *SUMS_TEXT)),
    "sscanf of the value": (line(*SUMS, CUT + 'if (sscanf(tab + 1, "%d;%d", &v, &w) != 2) continue;'),
                            ('value int ";" int', *SUMS_TEXT)),
    "strtod": (line("d = x;", "d += x;", 'printf("%s\\t%f\\n", prev, d);', CUT + "x = strtod(tab + 1, NULL);"),
               ("value double", "double d = v0, then (d + v0)")),
    "too long a key is an error": (line(*SUMS, "tab = strchr(line, '\\t'); if (tab == NULL || tab - line >= 20) exit(1);"
                                        " *tab = 0; word = line; v = atoi(tab + 1); w = 1;"), ("no empty key",)),
    "it is one in the test that finds the tab": (line(
        *SUMS, "if ((tab = strchr(line, '\\t')) == NULL || tab - line >= 20) exit(1);"
        " *tab = 0; word = line; v = atoi(tab + 1); w = 1;"), ("no empty key", "value int")),
    "it is none in the test that finds the tab": (line(
        *SUMS, "if (!(tab = strchr(line, '\\t'))) { fprintf(stderr, \"bad\\n\"); exit(1); }"
        " if (tab && tab - line < 20) ; else exit(2);"
        " *tab = 0; word = line; v = atoi(tab + 1); w = 1;"), ("no empty key", "value int")),
}


@pytest.mark.parametrize("name", LOOPS)
def test_spellings(name: str) -> None:
    recognised(*LOOPS[name])


NONE: dict[str, tuple[str, str]] = {
    "division by what is read": (usual("s = v;", "s += 100 / v;", COUNT), "what it makes of 's' is not understood"),
    "shift by what is read": (usual("s = v;", "s += 1 << v;", COUNT), "what it makes of 's' is not understood"),
    "a double as an integer": (usual("s = x;", "s += (long)x;", COUNT, loop=REAL), "what it makes of 's' is not"),
    "a sign of its own": (usual("d = x;", "d += -x;", 'printf("%s\\t%g\\n", prev, d);', loop=REAL), "not understood"),
    "a number that is not read": (usual("s = v;", "s += v;", COUNT, loop=ONE.replace("%d", "%d %*d")), "not understood"),
    "a key's end that depends on a value": (usual("s = v;", "if (v < 0) strcpy(prev, \"x\"); s += v;", COUNT), ""),
    "a loop": (usual("s = v;", "while (v--) s++;", COUNT), "how often a loop inside goes round is not known"),
    "two lines of a key": (usual("s = v;", "s += v;", "{" + COUNT + COUNT + "}"), "is not the key, a tab, the number and"),
    "a total": (usual("s = v;", "s += v; n += v;", COUNT), "'n' does not begin for every key as it does for the first"),
    "a double printed as an integer": (usual("d = x;", "d += x;", 'printf("%s\\t%ld\\n", prev, d);', loop=REAL),
                                       "of another type than its conversion"),
    "an end at a value": (usual("s = v;", "if (v > 9) exit(1); s += v;", COUNT.replace(" %ld", "").replace(", n", "")),
                          "it may end the process at a pair"),
    "nine numbers": (usual("s = v;", "s += v;", COUNT, loop=f'while (scanf("%31s{" %d" * 9}", word{", &v" * 9}) == 10)'),
                     "more than 8 numbers"),
    "a label inside": (usual("s = v;", "switch (v) { case 1: if (v) { case 2: s++; } }", COUNT), "not understood"),
    "a switch by the key": (usual("s = v;", "switch (prev[0]) { case 1: s++; }", COUNT), "not understood"),
    "a root of a long double": (usual("d = x;", "d += sqrtl(x);", COUNT, loop=REAL,
                                      helpers="long double sqrtl(long double);"), "not understood"),
    "two strtoks at once": (line(
        *SUMS, 'word = strtok_r(line, "\\t", &end); v = atoi(strtok(NULL, " ")); w = v;'), ""),
    "a second strtok that gets the rest": (line(
        *SUMS, 'word = strtok(line, "\\t"); tab = strtok(NULL, ","); v = atoi(tab); w = atoi(strchr(tab, \',\') + 1);'),
        "what stands between the numbers of a value is not known"),
    "a line that is cut": (written(
        "tab = strchr(word, '\\t'); *tab = 0; n++;", COUNT, loop="while (fgets(word, 32, stdin))",
        before=BEFORE + " char *tab;"), ""),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_key_loop(name: str) -> None:
    source, why = NONE[name]
    found = analyse(source)[0].facts.fold
    assert found.loop is None and found.no_loop and why in found.no_loop, found.no_loop


def test_several_numbers_are_a_fold_where_each_is_printed_as_it_is_read() -> None:
    source = usual("lo = v; s = w;", "if (v < lo) lo = v; s += w;", 'printf("%s\\t%d,%ld\\n", prev, lo, s);',
                   loop=TWO.replace("%d %d", "%d,%ld"), before=BEFORE.replace("int v, w;", "int v; long w;"))
    region = analyse(source)[0].region
    assert region.fold == Fold((FoldField("min", "int32"), FoldField("sum", "int64")), (",",), "prev", ("lo", "s"), True)
    assert region.pairs == PairReader("token", 31, ("int32", "int64"), between=(",",))
    assert (region.no_fold, region.ordered) == (None, ())
    told = "min of int32 in 'lo', sum of int64 in 's' per 'prev'; may run per spill and again at the merge"
    assert f"  fold        {told}" in _region_lines(region)


@pytest.mark.parametrize(("old", "new", "regroup"), [
    ("%d,%ld\\n", "%d %ld\\n", False), ("if (v < lo) lo = v;", "lo++;", None), ("prev, lo, s", "prev, lo, (long)hi", None),
    ("%d,%ld\\n", "%d, and %ld\\n", None), ("%d,%ld\\n", "%d\\303\\244%ld\\n", None), ("%d,%ld\\n", "%d%ld\\n", None),
    ("s += w", "s += v", None), ("%d,%ld\\n\", prev, lo, s", "%ld,%d\\n\", prev, s, lo", None),
])
def test_several_numbers_that_may_not_be_gathered_twice(old: str, new: str, regroup: bool | None) -> None:
    source = usual("lo = v; s = w;", "if (v < lo) lo = v; s += w;", 'printf("%s\\t%d,%ld\\n", prev, lo, s);',
                   loop=TWO.replace("%d %d", "%d,%ld"), before=BEFORE.replace("int v, w;", "int v; long w;"))
    assert old in source
    fold = analyse(source.replace(old, new))[0].region.fold
    assert (fold.regroup if fold else None) is regroup


@pytest.mark.parametrize(("old", "new", "why", "under"), [
    ("s += v;", "s += v + rand();", "with another pair of the same key is not understood", "rand"),
    ("s += v;", "while (v--) s++;", "how often a loop inside goes round is not known", "while"),
    ("s += v;", "s += v; puts(word);", "it prints before the key changes", "puts"),
    ("s += v;", "s += v; n += v;", "'n' does not begin for every key", "n += v"),
    ("if (strcmp", "if (word[0] == '*') exit(1); if (strcmp", "it may end the process at a pair", "word[0] == '*'"),
    ("s = v;", "s = 100 / v;", "what it makes of 's' is not understood", "s = 100"),
])
def test_what_prevents_a_loop_is_shown_with_a_caret(old: str, new: str, why: str, under: str) -> None:
    source = usual("s = v;", "s += v;", COUNT)
    assert old in source
    found = analyse(source.replace(old, new))[0]
    assert why in found.facts.fold.no_loop and found.facts.fold.place is not None
    line = (PRELUDE + source.replace(old, new)).split("\n")[found.facts.fold.place.line - 1]
    assert line[found.facts.fold.place.col - 1 :].startswith(under)
    if found.region.no_fold is not None:
        shown = _region_lines(replace(found.region, no_fold=replace(found.region.no_fold, text=line)))
        caret = next(n for n, text in enumerate(shown) if text.lstrip().startswith("| ") and "^" in text)
        assert shown[caret - 1][shown[caret].index("^") :].startswith(under) and why in shown[caret - 2]


def test_explain_names_what_an_ordered_loop_keeps_and_why_it_is_no_fold() -> None:
    region = analyse(LOOPS["a mean"][0])[0].region
    assert region.fold is None and region.ordered == ("s", "n")
    lines = _region_lines(region)
    assert "  fold        no, but ordered: 's', 'n' kept of a key, a step for each pair; runs exactly once per task" in lines
    assert "              it does not print what it gathers by the plain conversion of its type" in lines


def test_a_test_of_the_key_alone_leaves_a_fold_but_no_loop() -> None:
    """A fold's program runs over every key in the end; a loop stands in its place."""
    found = analyse(usual("s = v;", "s += v;", 'printf("%s\\t%ld\\n", prev, s);').replace(
        "if (strcmp", "if (word[0] == '*') exit(1); if (strcmp"))[0].facts.fold
    assert found.fold is not None and found.loop is None and "may end the process" in found.no_loop


@pytest.mark.parametrize("cut", [
    CUT + "v = strtol(tab + 1, &end, 10); w = strtol(end, NULL, 10);",
    'word = strtok(line, "\\t"); v = atoi(strtok(NULL, " ")); w = atoi(strtok(NULL, "\\n"));',
])
def test_lines_fold_as_scanf_does(cut: str) -> None:
    emit = 'printf("%s\\t%d %d\\n", prev, lo, hi);'
    found = analyse(line("lo = v; hi = w;", "lo += v; hi += w;", emit, cut))[0].facts.fold
    assert found.fold is not None and found.fold.regroup and found.loop is not None, found.why
