"""Which variables records only gather in, in every spelling, and near misses with the place of what prevents them."""

from __future__ import annotations

import re

import pytest

from heterodoop.compiler.ir.text import print_ir
from heterodoop.compiler.passes import ir_text

from ..regions import LINES, analyse, codes, combiner, cuda, mapper

LAST = ' strcpy(k, "k"); v = 1; printf("%s\\t%d\\n", k, v);'
DECLARED = ("struct { char t; int n, least; double d; int a[3]; } st = {0}, ar[5] = {{0}}; "
            "int *hp = calloc(8, sizeof *hp), *one = malloc(sizeof(int)); struct st2 { int n; double d; } *sp = malloc(48); "
            "double d = 0, dd[4] = {0}; float f = 0; "
            "int x = 0, i; long l = 0; unsigned u = 0; unsigned char b = 0; short s = 0; int h[8] = {0}, g[3][4] = {{0}};")
SHOWN = ('printf("%d %ld %u %d %d %d %d\\n", x, l, u, b, s, h[0], g[0][0]); '
         'printf("%d %d %g %g %g %g\\n", st.n, ar[1].a[2], st.d, d, dd[1], f);')
HELPERS = "static long all; static int counts[26]; static void note(int c) { counts[c % 26]++; all += c; }"

# statement -> the operation, and what is gathered
UPDATES = {
    "x++;": ("x", "sum", "1"), "--x;": ("x", "sum", "-1"), "x += n;": ("x", "sum", "(int)n"),
    "x -= 3;": ("x", "sum", "-3"), "x = x + v0;": ("x", "sum", "v0"), "x = v0 + x - 1;": ("x", "sum", "v0 - 1"),
    "l += v0;": ("l", "sum", "(long)v0"), "l = l - v0;": ("l", "sum", "-(long)v0"),
    "u += v0;": ("u", "sum", "(unsigned int)v0"),
    "b++;": ("b", "sum", "(unsigned char)1"), "s += v0;": ("s", "sum", "(short)v0"),
    "h[v0 & 7]++;": ("h[v0 & 7]", "sum", "1"), "g[v0 % 3][1] += 2;": ("g[v0 % 3][1]", "sum", "2"),
    "*h += v0;": ("*h", "sum", "v0"),
    "x |= 1 << v0;": ("x", "or", "1 << v0"), "u = v0 | u;": ("u", "or", "(unsigned int)v0"), "x &= v0;": ("x", "and", "v0"),
    "u ^= 5;": ("u", "xor", "5U"), "if (v0 > x) x = v0;": ("x", "max", "v0"), "if (x >= v0) { x = v0; }": ("x", "min", "v0"),
    "x = v0 > x ? v0 : x;": ("x", "max", "v0"), "x = x < v0 ? x : v0;": ("x", "min", "v0"),
    "x = v0 > x ? x : v0;": ("x", "min", "v0"),
    "if (v0 > l) l = v0;": ("l", "max", "(long)v0"), "if (line[0] > s) s = line[0];": ("s", "max", "(short)line[0]"),
    "if (h[v0 & 7] < v0) h[v0 & 7] = v0;": ("h[v0 & 7]", "max", "v0"),
    "if (v0 > u) u = v0;": ("u", "max", "(unsigned int)v0"),
    "if (v0 > 2) x++;": ("x", "sum", "1"), "for (i = 0; i < v0; i++, x++) ;": ("x", "sum", "1"),
    "st.n++;": ("st.n", "sum", "1"), "ar[v0 & 3].a[1] += v0;": ("ar[v0 & 3].a[1]", "sum", "v0"),
    "if (v0 < ar[2].least) ar[2].least = v0;": ("ar[2].least", "min", "v0"),
    "if (v0 * 0.5 < d) d = v0 * 0.5;": ("d", "first-min", "(double)v0 * 0.5"),
    "if (d <= v0) d = v0;": ("d", "last-max", "(double)v0"), "d = v0 > d ? v0 : d;": ("d", "first-max", "(double)v0"),
    "if (dd[v0 & 3] >= v0) dd[v0 & 3] = v0;": ("dd[v0 & 3]", "last-min", "(double)v0"),
    "if (st.d > v0) { st.d = v0; }": ("st.d", "first-min", "(double)v0"),
    "if (f < (float)v0) f = (float)v0;": ("f", "first-max", "(float)v0"),
    "hp[v0 & 7]++;": ("hp$memory[v0 & 7]", "sum", "1"), "*one += v0;": ("*one$memory", "sum", "v0"),
    "sp[1].n -= 2;": ("sp$memory[1].n", "sum", "-2"),
    "if (sp->d < v0) sp->d = v0;": ("sp$memory->d", "first-max", "(double)v0"),
    "(void)x++;": ("x", "sum", "1"), "v0 > 2 ? x++ : 0;": ("x", "sum", "1"),
    "v0 ? (void)0 : (void)(x |= 4);": ("x", "or", "4"),
    "v0 > 2 ? l++ : v0;": ("l", "sum", "1L"), "v0 ? (v0 > 3 ? b++ : n) : 0;": ("b", "sum", "(unsigned char)1"),
    "for (i = 0; i < v0; i++, v0 & 1 ? x++ : i) ;": ("x", "sum", "1"), "v0 > 2 ? v = 2, x -= 2 : 0;": ("x", "sum", "-2"),
}


def program(statement: str, *, shown: str = SHOWN) -> str:
    return mapper(f"int v0 = line[0];\n{statement}\n{LAST}", before=DECLARED, after=shown)


@pytest.mark.parametrize("statement", UPDATES)
def test_an_update_in_every_spelling(statement: str) -> None:
    target, op, value = UPDATES[statement]
    analysis, _ = analyse(program(statement))
    assert not analysis.refusals, analysis.refusals
    assert f'__accumulate("{op}", {target}, {value})' in ir_text(analysis)
    assert [name for name, cls in ((v.name, v.cls) for v in analysis.region.variables) if cls == "accumulator"] == [
        re.sub(r"(\w+)\$memory", r"*\1", re.sub(r"^\*|(\[|\.|->).*", "", target))]
    assert analysis.facts.behind.needed


def test_both_sides_of_a_choice() -> None:
    """A kernel's text has them as they stand, each without a value."""
    source = program("v0 > 2 ? x++ : (h[v0 & 7] += 2), u |= 4;")
    analysis, _ = analyse(source)
    assert not analysis.refusals, analysis.refusals
    assert {v.name for v in analysis.region.variables if v.cls == "accumulator"} == {"x", "h", "u"}
    assert "v0 > 2 ? hd::gather<hd::Sum>(hd.thread_totals.x" in cuda(source)


def test_variables_of_the_file_in_functions_that_the_loop_calls() -> None:
    source = mapper(f"note(line[0] & 15); {LAST}", helpers=HELPERS, after='printf("%ld %d\\n", all, counts[3]);')
    analysis, _ = analyse(source)
    assert not analysis.refusals
    assert {v.name: v.cls for v in analysis.region.variables if v.cls == "accumulator"} == {
        "all": "accumulator", "counts": "accumulator"}


# statement, "" or what else stands in the loop -> (why it is none, the text of the line at which the caret stands)
NEAR = {
    "x += n; v = x;": ("it is used otherwise", "x += n; v = x;"),
    "if (x++ == 0) v = 2;": ("", "if (x++ == 0) v = 2;"), "v = v0 ? x++ : 0;": ("", ""), "(v0 ? x++ : 0) + 1;": ("", ""),
    "v0 ? x++ : x;": ("it is used otherwise", "v0 ? x++ : x;"),
    "x += x;": ("it is used otherwise", "x += x;"),
    "h[h[0] & 7]++;": ("it is used otherwise", "h[h[0] & 7]++;"),
    "x += 1;\nx = n > 5 ? x : 0;": ("it is used otherwise", "x = n > 5 ? x : 0;"),
    "x++;\nif (v0 > x) x = v0;": ("it is updated as 'sum' and as 'max'", "if (v0 > x) x = v0;"),
    "x++;\nx |= 4;": ("it is updated as 'sum' and as 'or'", "x |= 4;"),
    "int *p = &x; *p += 1; x++;": ("it is used otherwise", "int *p = &x; *p += 1; x++;"),
    "int *p = h; h[v0 & 7]++; p[1]++;": ("it is used otherwise", "int *p = h; h[v0 & 7]++; p[1]++;"),
    "if (v0 > x) { x = v0; v = 2; }": ("", ""), "if (v0 > x) x = v0; else v = 2;": ("", ""),
    "if (v0 > x) x = v0 + 1;": ("", ""), "if (l > x) x = l;": ("", ""),
    "x = (char)(x + 1);": ("", ""), "x = x * 3;": ("", ""), "x *= 3;": ("", ""), "x = v0 - x;": ("", ""),
    "if (abs(rand()) > x) x = abs(rand());": ("", ""), "x <<= 1;": ("", ""),
    "d += 0.5;": ("", ""), "x += 0.5;": ("", ""),
    "z.n++; v = z.n;": ("it is used otherwise", "z.n++; v = z.n;"),
    "un.n++;": ("'n' shares its bytes with another one", "un.n++;"),
    "z.n++; z = z2;": ("it is used otherwise", "z.n++; z = z2;"),
    "z.n++;\nz.n |= 4;": ("it is updated as 'sum' and as 'or'", "z.n |= 4;"),
    "d = d < v0 ? d : v0;": ("", ""), "if (!(d < v0)) d = v0;": ("", ""), "if (v0 * 0.1 < f) f = v0 * 0.1;": ("", ""),
    "if (v0 < d) d = v0;\nif (v0 <= d) d = v0;": ("it is updated as 'first-min' and as 'last-min'", "if (v0 <= d) d = v0;"),
    "deep[1].in[2].a[1]++;": ("'in.a' lies in arrays of structs that hold arrays of structs", "deep[1].in[2].a[1]++;"),
}


@pytest.mark.parametrize("statement", NEAR)
def test_a_near_miss(statement: str) -> None:
    why, text = NEAR[statement]
    before = DECLARED + (" struct z { int n; } z = {0}, z2 = {1}; union { int n; float f; } un = {0}; "
                         "struct { struct { int a[2], b; } in[3]; int more; } deep[2] = {{{{{0}}}}};")
    source = mapper(f"int v0 = line[0];\n{statement}\n{LAST}", before=before, after=SHOWN)
    analysis, _ = analyse(source)
    assert "__accumulate" not in print_ir(analysis.program) or "x++;\n" not in statement
    reasons = [r for r in analysis.refusals if r.code == "HD210"]
    assert analysis.refusals and (reasons or statement.startswith("if (abs")), analysis.refusals
    if why:
        (reason,) = reasons[:1]
        assert why in reason.message, reason.message
        line = source.split("\n")[reason.span.line - LINES - 1]
        assert line == text and reason.span.col


# what stands before the loop, in it, and behind it: memory that is no array
NO_ARRAY = [
    ("int *p = malloc(4 * atoi(k)); int x = 0;", "p[x++ & 1]++;", ""), ("int *p = realloc(NULL, atoi(k));", "p[1]++;", ""),
    ("int *p = malloc(40); if (k[0]) p = malloc(80);", "p[1]++;", ""),
    ("int *p = malloc(40), *q = p;", "p[1]++; q[2]++;", ""), ("int *p = malloc(40);", "p[1]++; if (p) v = 1;", ""),
    ("int *p = malloc(40);", "p[1]++; v = p[2];", ""), ("int *p = malloc(40);", "note(p); p[1]++;", ""),
    ("int *p = malloc(40);", "int *q = &p[3]; *q += 1; p[1]++;", ""), ("int *p = malloc(40);", "p++; *p += 1;", ""),
    ("int *p = malloc(40); p += 2;", "p[1]++;", ""), ("int *p = malloc(3);", "*p += 1;", ""),
    ("int *p = malloc(40), **pp = &p; *pp = malloc(20);", "p[1]++;", ""), ("int *p = malloc(40);", "p[0]++; p[0] = 3;", ""),
    ("shared = malloc(40); other();", "shared[0]++;", "int *p = shared;"),
]


AROUND_MEMORY = "static int x0; static void note(int *p) { x0 = p != 0; } int *shared; void other(void);"


@pytest.mark.parametrize(("before", "statement", "after"), NO_ARRAY)
def test_memory_that_is_reached_otherwise_is_no_array(before: str, statement: str, after: str) -> None:
    source = mapper(f"{statement} {LAST}", before=before, helpers=AROUND_MEMORY,
                    after=f'{after} printf("%d\\n", p[1]);')
    analysis, _ = analyse(source)
    assert analysis.refusals and "memory" not in print_ir(analysis.program)


def test_memory_of_a_size_that_the_program_computes() -> None:
    """An index is compared with what there is: what is beyond stands behind the array."""
    before = "int *p = calloc(atoi(k), sizeof *p); struct { char t; long l; } *q = malloc(16 * (n + 1));"
    body = f"p[line[0] - 'a']++; *p += 2; if (n > q->l) q->l = n; {LAST}"
    source = mapper(body, before=before, after='printf("%d\\n", p[1]);')
    analysis, _ = analyse(source)
    assert not analysis.refusals, analysis.refusals
    text = ir_text(analysis)
    assert '__accumulate("sum", p$memory[(unsigned long)((int)line[0] - 97) < p$room / 4UL' in text
    assert "0UL < q$room / 16UL ? 0UL : 65536UL].l" in text
    places = {p.name: (p.space, p.nbytes, p.live_in) for p in analysis.decisions.places}
    assert places["p$memory"] == ("device-total", 1 << 20, False) and places["p$room"] == ("parameter", 8, True)
    assert "hd::within<262144>" in cuda(source)
    assert [f.value for f in analysis.decisions.shared] == [
        "(unsigned long){hd_live_in_room(p, 1048572UL)}", "(unsigned long){hd_live_in_room(q, 1048560UL)}"]


def test_memory_shows_even_where_nobody_reads_it() -> None:
    """The filter ends at a pointer that is NULL, and so has to do the epilogue."""
    analysis, _ = analyse(mapper(f"p[1]++; {LAST}", before="int *p = malloc(40);"))
    assert not analysis.refusals and analysis.facts.behind.needed


def test_a_minimum_of_another_signedness_is_none() -> None:
    for statement in ("if (strlen(line) > x) x = strlen(line);", "x = u > x ? u : x;"):
        assert "HD210" in codes(program(statement))


def test_the_order_of_a_sum_and_of_what_changes_it_inside_is_c_s() -> None:
    helpers = "static int x0; static int more(int c) { x0 += c; return c; }"
    source = mapper(f"x0 += more(line[0]); {LAST}", helpers=helpers, after='printf("%d\\n", x0);')
    assert "HD260" in codes(source)


def test_a_variable_that_the_directive_does_not_see_is_refused() -> None:
    helpers = "static int note(int c) { static int seen; if (c < 0) return 1; seen++; return 0; }"
    source = mapper(f"note(line[0]); {LAST}", helpers=helpers, after='printf("%d\\n", 1);')
    assert "HD248" in codes(source)


def test_names_of_the_kernel_s_own_are_not_the_program_s() -> None:
    helpers = "struct Totals { int n; }; static int gather(int *x) { return *x; } static long BlockTotals, totals;"
    body = f"struct Totals t = {{2}}; BlockTotals += gather(&t.n); totals++; {LAST}"
    found = cuda(mapper(body, helpers=helpers, after='printf("%ld %ld\\n", BlockTotals, totals);'))
    assert "struct Totals_ " in found and "gather_(" in found and "hd.thread_totals.BlockTotals_" in found


def test_a_combiner_has_none() -> None:
    source = combiner("if (strcmp(word, prev)) { strcpy(prev, word); count = 0; } count += val; x++;",
                      before='char prev[32] = "", word[32]; int count = 0, val, x = 0;')
    assert "__accumulate" not in ir_text(analyse(source)[0])


# ------------------------------------------------------------------------------------------ the code behind the loop

BEHIND_FINE = [
    'printf("%d\\n", x);', 'for (i = 0; i < 8; i++) printf("%d\\n", h[i]);', 'v = 3; printf("%d\\n", v);',
    'v = x > 3 ? 1 : 2; if (v == 2) printf("%d\\n", v);', 'int j; for (j = 0; j < 3; j++) { v = j; printf("%d\\n", v); }',
    'if (ferror(stdin)) return 1; printf("%d\\n", x);', 'fprintf(stderr, "reporter:counter:a,b,%d\\n", x);',
    'printf("%d\\n", limit); return limit;', 'n = 4; while (n-- > 0) printf("%d\\n", x);',
    'do { v = x; x -= 5; printf("%d\\n", v); } while (x > 0);', 'qsort(h, 8, sizeof h[0], cmp); printf("%d\\n", h[0]);',
    'switch (x) { case 1: printf("1\\n"); break; default: printf("%d\\n", x); }', 'fclose(stdin); printf("%d\\n", x);',
]
BEHIND_LEFT = {
    'printf("%d\\n", v);': "v", 'printf("%s\\n", line);': "line", 'printf("%ld\\n", (long)n);': "n",
    'printf("%s\\n", k);': "k",
    'if (x) v = 2; printf("%d\\n", v);': "v", 'for (; i < 8; i++) printf("%d\\n", i);': "i",
    'for (v = 0; v < 3; v++) ; if (x) n = v; printf("%d\\n", (int)n);': "n",
    'x && (v = 3); printf("%d\\n", v);': "v",
    'goto end; end: v = 2; printf("%d\\n", v);': "v", 'memset(k, 0, sizeof k); printf("%d\\n", x);': "k",
    'show(); ': "last", 'puts(at);': "k", 'printf("%.*s\\n", 3, at + 1);': "k",
    'switch (x) { case 1: v = 2; } printf("%d\\n", v);': "v", 'while (v < 3) v++; printf("%d\\n", x);': "v",
    'perror("x"); printf("%d\\n", x);': "errno", 'printf("%d\\n", errno);': "errno",
    'printf("%d\\n", feof(stdin) + fileno(stdin));': "stdin",
}
AROUND = ("static int last; int fileno(FILE *); int ferror(FILE *); void perror(const char *); "
          "static void show(void) { printf(\"%d\\n\", last); } "
          "static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }")


def behind(code: str) -> str:
    before = f"{DECLARED} int limit = 4; char *at = k; if (getenv(\"limit\")) limit = atoi(getenv(\"limit\"));"
    body = f"for (i = 0; i < n; i++) h[i & 7]++;\nlast = 1; x++; v = n > limit; strcpy(k, \"k\"); {LAST}"
    return mapper(body, before=before, helpers=AROUND, after=code)


@pytest.mark.parametrize("code", BEHIND_FINE)
def test_code_behind_the_loop_that_can_run_alone(code: str) -> None:
    analysis, _ = analyse(behind(code))
    assert analysis.facts.behind.needed and not analysis.refusals, analysis.refusals


@pytest.mark.parametrize("code", BEHIND_LEFT)
def test_what_the_last_record_left_is_not_there(code: str) -> None:
    analysis, _ = analyse(behind(code))
    (first, *_) = [r for r in analysis.refusals if r.code == "HD227"]
    assert f"'{BEHIND_LEFT[code]}'" in first.message or BEHIND_LEFT[code] in first.message
    assert first.span.line


@pytest.mark.parametrize("code", ["", "v = 3;", "fclose(stdin);", "if (limit > 100) v = 2;"])
def test_code_that_does_not_show_needs_no_run(code: str) -> None:
    analysis, _ = analyse(mapper(f"v = limit; {LAST}", before="int limit = 4;", after=code))
    assert not analysis.facts.behind.needed and not analysis.refusals
