"""Every reason that keeps a region on the CPU, and what is none."""

from __future__ import annotations

import pytest

from heterodoop.hdcodes import CODES

from ..regions import analyse, classes, codes, mapper

EMIT = 'printf("%s\\t%d\\n", k, v);'
LAST = " strcpy(k, line);" + EMIT
RECORD = {"line": "record", "cap": "record", "n": "record"}


def own(source: str) -> dict[str, str]:
    """Classes without the reader's variables."""
    return {name: cls for name, cls in classes(source).items() if name not in RECORD}


# code -> programs that must give it
REFUSED: dict[str, list[str]] = {
    "HD212": [mapper("if (line[0] == 'q') break; v = 1;" + LAST),
              mapper("switch (n) { case 1: continue; default: v = 1; } if (v) { break; }")],
    "HD213": [mapper("if (line[0] == 'q') return 0; v = 1;" + LAST)],
    "HD214": [mapper("if (line[0] == 'q') exit(0); v = 1;" + LAST),
              mapper("v = bad(line);" + LAST, helpers="static int bad(char *s) { exit(s[0]); }")],
    "HD215": [mapper("if (getline(&line, &cap, stdin) < 0) continue; v = 1;" + LAST),
              mapper("v = getchar();" + LAST), mapper("if (feof(stdin)) continue; v = 1;"),
              mapper("char b[9]; if (!fgets(b, 9, in)) continue; v = 1; strcpy(k, b);" + EMIT, before="FILE *in = stdin;"),
              mapper("if (scanf(\"%d\", &v) != 1) continue;" + LAST)],
    "HD216": [mapper("if (n < 3) goto in; while (n) { n--; in: v = 1; }" + LAST),
              mapper("v = jump(line);" + LAST,
                     helpers="static int jump(char *s) { if (*s) goto a; if (s[1]) { a: return 2; } return 1; }")],
    "HD217": [mapper("v = 1; walk(line, 3);" + LAST,
                     helpers="static int seen; static void walk(char *s, int d) { seen = d; if (d) walk(s, d - 1); }"),
              mapper("v = 1; swap(k, other, 3);" + LAST, before="char other[32] = \"\";",
                     helpers="static int swap(char *a, char *b, int d) { return d ? swap(b, a, d - 1) : a[0]; }")],
    "HD218": [mapper("char copy[n + 1]; void *whole = &copy; strcpy(copy, line); v = copy[0] + (whole == k);" + LAST)],
    "HD219": [mapper("char *c = own(n + 1); strcpy(c, line); v = c[0];" + LAST, before="char *first = own(9);",
                     helpers="static void *own(size_t n) { return malloc(n); }"),
              mapper("char *p = aligned_alloc(64, 64); v = p != NULL;" + LAST,
                     helpers="void *aligned_alloc(size_t, size_t);")],
    "HD220": [mapper("v = getenv(line) != NULL;" + LAST)],
    "HD221": [mapper("v = rand();" + LAST), mapper("v = (int)time(NULL);" + LAST)],
    "HD222": [mapper("v = 1;" + LAST, before='setlocale(LC_ALL, "");'),
              mapper("setlocale(LC_ALL, \"\"); v = 1;" + LAST)],
    "HD223": [mapper("v = unknown(line);" + LAST, helpers="int unknown(char *);")],
    "HD224": [mapper("v = f(1);" + LAST, helpers="extern int (*f)(int);"),
              mapper("int (*c)(const void *, const void *) = n > 4 ? up : down; qsort(k, 4, 1, c); v = 1;" + LAST,
                     helpers="static int up(const void *a, const void *b) { return *(char *)a - *(char *)b; }"
                     "static int down(const void *a, const void *b) { return *(char *)b - *(char *)a; }"),
              mapper("qsort(k, 4, 1, cmp); v = 1;" + LAST,
                     helpers="static int cmp(const void *a, const void *b) { return a < b ? -1 : 1; }")],
    "HD225": [mapper("*(int *)(n * 8) = 1; v = 1;" + LAST),
              mapper("v = *(int *)(n * 8);" + LAST)],
    "HD226": [mapper("v = 1;" + LAST, before='printf("head\\n");'),
              mapper("v = 1;" + LAST, before="getline(&line, &cap, stdin);"),
              mapper("v = 1;" + LAST, before="atexit(done);", helpers='int atexit(void (*)(void)); static void done(void) {'
                     ' puts("x"); }'),
              mapper("v = 1;" + LAST, after="done();", helpers='static void done(void) { getchar(); puts("x"); }'),
              mapper("v = 1;" + LAST).replace("int main(void)", "static int run(void)")
              + "int main(void) { return run(); }"],
    "HD227": [mapper("v = 1;" + LAST, after='fprintf(stderr, "%d", v);'),
              mapper("v = 1;" + LAST, after="if (total()) return 1;", helpers="static int last; static int total(void) {"
                     " return last; }").replace("v = 1;", "v = 1; last = 2;"),
              mapper("v = 1;" + LAST, after="return k[0];")],
    "HD228": [mapper("v = 1;" + LAST).replace("!= -1", "!= -1 && v < 5"),
              mapper("v = 1;" + EMIT).replace("(n = getline(&line, &cap, stdin)) != -1", "(n = getchar()) != 10"),
              mapper("v = 1;" + EMIT).replace("(n = getline(&line, &cap, stdin)) != -1", 'scanf("%31s %c", k, k) == 2'),
              mapper("v = 1;" + EMIT).replace("(n = getline(&line, &cap, stdin)) != -1", "n-- > 0")],
    "HD229": [mapper("v = 1;" + LAST, before='stdout = fopen("x", "w");'),
              mapper("v = fputs(line, f);" + LAST, before='FILE *f = fopen("x", "w");'),
              mapper("v = printf(line);" + LAST)],
    "HD330": [mapper("s.a = 1; v = s.a;" + LAST, helpers="struct b { int a : 3; };", before="struct b s;"),
              mapper("long double x = n; v = (int)x;" + LAST)],
}


@pytest.mark.parametrize(("code", "number"), [(c, i) for c, sources in REFUSED.items() for i in range(len(sources))])
def test_refused(code: str, number: int) -> None:
    source = REFUSED[code][number]
    assert code in codes(source), analyse(source)[0].refusals
    assert code in CODES


def test_every_code_of_this_part_is_triggered() -> None:
    mine = {c for c in CODES if "HD210" <= c <= "HD231"}
    assert mine == set(REFUSED) - {"HD330"} | {"HD210", "HD211", "HD231"}


def test_too_many_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heterodoop.compiler.analysis.flow_expr.Evaluator.STEP_LIMIT", 4)
    assert "HD231" in codes(mapper("v = 7;" + LAST))


@pytest.mark.parametrize(
    "body",
    ["if (n > 9) exit(1);", "if (n > 9) abort();", "if (n > 9) { fprintf(stderr, \"long\\n\"); exit(2); }",
     "if (!n) _exit(3);"])
def test_failures_are_no_reason(body: str) -> None:
    """A task that fails runs again on the CPU, which decides."""
    assert codes(mapper(body + "v = 1;" + LAST)) == set()


def test_code_around_the_region_that_is_fine() -> None:
    before = 'FILE *f = fopen("table", "r"); int limit = 0; if (f) { fscanf(f, "%d", &limit); fclose(f); } v = 0; srand(1);'
    source = mapper("v = n > limit;" + LAST, before=before, after="v = 3; if (limit > 100) return 2;")
    assert codes(source) == set() and own(source)["limit"] == "sharedRO"


def test_what_is_printed_behind_the_region_is_the_epilogue_s() -> None:
    helpers = 'static void done(void) { puts("x"); }'
    for after in ('puts("tail");', "done();", 'fprintf(stderr, "done");', "return 3;"):
        analysis, _ = analyse(mapper("v = 1;" + LAST, after=after, helpers=helpers))
        assert not analysis.refusals and analysis.facts.behind.needed


def test_stream_parameters_are_resolved() -> None:
    helpers = ("static void put(FILE *out, const char *s, int v) { fprintf(out, \"%s\\t%d\\n\", s, v); }"
               "static ssize_t next(char **l, size_t *c, FILE *in) { return getline(l, c, in); }")
    analysis, _ = analyse(mapper("v = 1; strcpy(k, line); put(stdout, k, v);", helpers=helpers))
    assert not analysis.refusals and [e.call for e in analysis.region.emissions] == ["fprintf"]


def test_a_stream_that_may_be_two() -> None:
    helpers = 'static void put(FILE *out, const char *s) { fputs(s, out); }'
    assert "HD229" in codes(mapper("v = 1; strcpy(k, line); put(stdout, k); put(stderr, k);", helpers=helpers))
