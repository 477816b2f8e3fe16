"""Lowering and the printed IR: it reads back, and a C compiler makes the same program of it as of the source."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from heterodoop.compiler.ir import ir
from heterodoop.compiler.ir import walk as ir_walk
from heterodoop.compiler.ir.read import read_ir
from heterodoop.compiler.ir.text import expr_text, print_ir
from heterodoop.errors import CompilerBug

from ..analysis.test_uses import CASES
from ..fold_programs import FOLDS
from ..ir_c import build, build_ir, output
from ..regions import PRELUDE, analyse, combiner, mapper

DATA = b"the cat\nsat, on\n\nthe 42 mats\n-7\n((x))\nq\n" + bytes(range(32, 127)) + b"\nno end"

# name -> (helpers, before, body): what the language offers, in mappers whose output depends on it
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "conversions": ("", "unsigned char uc; signed char sc; short sh; unsigned u; long l; float f; double d; _Bool b;", """
        uc = n * 37; sc = uc; sh = uc * 259; u = sc; l = u; f = l; d = f / 3; b = d;
        printf("%d %d %d %u %ld %.9g %.17g %d\\n", uc, sc, sh, u, l, f, d, b);
        printf("%d %d %lu %d\\n", uc + sc, sc < u, sizeof(uc + 1) + (n > -1), -1 < (unsigned char)n);
        u = -1; printf("%d %u %ld\\n", u > 0, u / 2 + sc, l - u);"""),
    "compound assignments": ("", "unsigned char uc; short sh; double d; char *p; unsigned u;", """
        uc = n; uc += 300; uc <<= 3; uc |= 1; sh = n; sh *= 1.5; sh -= 70000; d = n; d /= 7; p = line; p += 1; p -= 1;
        u = n; u >>= 1; u %= 5; u ^= ~u; printf("%d %d %.9g %d %u\\n", uc, sh, d, *p, u);
        printf("%d %d %d %d\\n", uc++, ++uc, sh--, --sh);"""),
    "control": ("", "int i, j;", """
        for (i = 0, j = 10; i < j; i++, j--) { if (i == 2) continue; if (j == 6) break; printf("%d-%d ", i, j); }
        do { i--; if (i & 1) continue; printf("%d ", i); } while (i > 0);
        switch (n % 5) { case 0: case 1: printf("a"); default: printf("d"); break;
          case 3: { printf("c"); if (n > 3) { case 4: printf("e"); } } }
        for (int a = 1, b = 2; a < 9; a *= b) printf("%d", a);
        while (1) { if (i++ > 3) break; else continue; }
        printf("%s\\n", i > 3 ? n > 2 ? "x" : "y" : "z");"""),
    "names": ("static int index = 3; struct word { int word; };", "int i = 1; struct word word; word.word = 2;", """
        int i = 2; { int i = 3; { char i = 4; printf("%d", i); } printf("%d", i); } printf("%d%d\\n", i, index);
        int bool = 5, true = 6, typeof_x = bool; { int word = 7; printf("%d", word); }
        printf("%d%d%d\\n", word.word, true, typeof_x);"""),
    "initialisers": ("struct p { int x, y; }; struct q { struct p a[2]; char name[6]; double d; };"
                     "static const int table[] = { [3] = 9, 1, [1] = 7 };"
                     "static const char *words[] = { \"one\", [2] = \"three\" };", "", """
        struct q q = { { { 1, 2 }, { .y = 4 } }, "abc", 5 }, r = { .name = { 'x', 'y' }, .a[1].x = (int)n }, z = { 1, 2, 3 };
        int m[2][3] = { { 1, 2, 3 }, 4, 5 }, e[4] = { 0 }; char s[] = "text", t[3] = "xyz",
          *lit = "a\\tb\\\\\\"\\x7f\\0c" "d";
        printf("%d %d %d %s %g\\n", q.a[0].y, q.a[1].x, q.a[1].y, q.name, q.d);
        printf("%d %d %s %d %d %d\\n", r.a[1].x, r.a[0].x, r.name, z.a[1].x, z.a[0].y, e[3]);
        printf("%d %d %lu %c %s %d %d %s\\n", m[1][1], m[1][2], sizeof s, t[2], lit, table[4], table[1], words[2]);"""),
    "structs": ("typedef struct { int a; union { int i; char c[4]; } u; struct in { long l; } in; } big;"
                "static big make(int a) { big b = { .a = a, .u.i = 0x41424344, .in.l = a * 2L }; return b; }"
                "static int get(const big *p) { return p->a + p->u.c[1] + (int)p->in.l; }", "big b, c, *pb = &b;", """
        b = make((int)n); c = b; c.a++; pb->in.l = 5; printf("%d %d %d %c\\n", get(&b), get(&c), make(3).a, pb->u.c[0]);
        printf("%d\\n", get(&(big){ .a = 1 }) + ((struct in){ 4 }).l);"""),
    "pointers": ("static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; }"
                 "static int apply(int (*f)(int, int), int a) { return f(a, 2) + (*f)(a, 1); }",
                 "int (*ops[2])(int, int) = { add, &sub }; int a[5] = { 1, 2, 3, 4, 5 }; char **pp = &line;", """
        int *p = a + 1, *e = &a[4]; printf("%ld %d %d %d\\n", e - p, *++p, p[-1], 1[a]);
        printf("%d %d %c\\n", apply(ops[n & 1], (int)n), (n > 2 ? add : sub)(4, 3), **pp);
        const char *s = line; while (*s) s++; printf("%ld %d\\n", s - line, p != e && p < e && s);"""),
    "helpers": ("static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }"
                "static void emit(FILE *out, const char *k, int v) { fprintf(out, \"%s\\t%d\\n\", k, v); }"
                "static int count(void) { static int calls, *p = &calls; return ++*p; }"
                " static long wide(char c, short s) { return c * s; }", "", """
        k[0] = line[0] ? line[0] : '-'; k[1] = 0; emit(stdout, k, fib((int)n % 10));
        printf("%d %ld\\n", count(), wide(300, 70000));"""),
    "output": ("", "", """
        strncpy(k, line, 4); k[4] = 0; fputs(k, stdout); putchar('\\t'); putchar(n + 48); puts("!"); printf("100%%\\n");
        printf("%5d|%-6d|%+d|%05d|%x|%#o|%c|%.2s|%*d|%.*f|%hhd|%lu\\n", v = (int)n, v, v, v, v, v,
          'c', k, 7, v, 2, v / 7.0, v * 90, (unsigned long)n);
        fprintf(stderr, "reporter:counter:g,c,%d\\n", v);"""),
    "labels and comma": ("", "int i;", """
        i = (v = 3, v + 1); again: if (i-- > 2) goto again; printf("%d %d\\n", i, (i ? v : 2, i) + !v + ~i - - v - -i);"""),
    "integers at their ends": ("", "long l; unsigned long u; int i; unsigned long long ull;", """
        i = -2147483647 - 1; l = -9223372036854775807L - 1; u = 18446744073709551615UL; ull = 0xffffffffffffffff;
        printf("%d %ld %lu %llu %d\\n", i, l, u, ull, i - 1 > 0);
        printf("%d %d %u\\n", 'A' << 2, '\\377', 4000000000u + 500000000);
        printf("%d %ld %d\\n", (int)3000000000, (long)1e15, (signed char)200);
        printf("%d\\n", (int)n << 3 >> 1 & 7 | 8 ^ 3);"""),
    "int128 and bool": ("enum kind { A, B = 5, C };", "unsigned __int128 w; enum kind e; _Bool b;", """
        w = (unsigned __int128)~0UL * n; e = C; b = n & 2;
        printf("%lu %d %d\\n", (unsigned long)(w >> 64), e + A, b + (e == B));"""),
}


def source_of(name: str) -> str:
    helpers, before, body = PROGRAMS[name]
    return mapper(body + ' printf("%s\\t%d\\n", k, v);', before=before + " v = 0; k[0] = 0;", helpers=helpers)


@pytest.mark.parametrize("name", PROGRAMS)
def test_printed_ir_is_the_program(name: str, tmp_path: Path) -> None:
    source = source_of(name)
    program = analyse(source)[0].program
    assert not [n for f in (*program.functions, program.region) for n in ir_walk.walk(f.body) if isinstance(n, ir.Opaque)]
    expected = output(build(PRELUDE + source, tmp_path / "source", std="gnu11"), DATA)
    assert expected[0] == 0
    assert output(build_ir(program, tmp_path / "ir"), DATA) == expected


@pytest.mark.parametrize(
    "name", ["the paper's", "strtok", "output by a helper", "fgets and chomp", "endless loop and break"])
def test_printed_combiner_is_the_program(name: str, tmp_path: Path) -> None:
    source = FOLDS[name].source
    data = b"".join(b"k%d\t%d\n" % (i // 3, i) for i in range(30))
    expected = output(build(PRELUDE + source, tmp_path / "source", std="gnu11"), data)
    assert output(build_ir(analyse(source)[0].program, tmp_path / "ir"), data) == expected


def random_expression(rng: random.Random, depth: int) -> str:
    """An expression over variables of every arithmetic type, defined for all their values."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice("c uc s us i u l ul f d b 'x' 7 3u 2.5 1.5f 100L 0x80000000".split())
    a, b = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    kind = rng.choice(["int", "unsigned", "long", "short", "unsigned char", "double", "unsigned long", "float"])
    return rng.choice([
        f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} < {b})", f"({a} == {b})", f"(!{a})", f"(-{a})", f"(+{a})",
        f"((int)((int)(short)({a}) & 63) << ((int)(short)({b}) & 15))", f"(({kind})(short)({a}))", f"({a} ? {b} : {a})",
        f"({a} && {b})", f"({a} || {b})", f"(~(long)(short)({a}))", f"((short)({a}) | (unsigned char)(short)({b}))",
        f"({a} / ((short)({b}) & 7 | 1))", f"((short)({a}) % ((short)({b}) & 7 | 1))", f"((unsigned)(short)({a}) >> 3)",
        f"({a}, {b})", f"({a} >= {b})", f"((long)(short)({a}) ^ (unsigned)(short)({b}) | 1)",
    ])


def test_random_expressions(tmp_path: Path) -> None:
    """The types and conversions of 300 random expressions, against the C compiler's own."""
    rng = random.Random(20150615)
    lines = []
    for _ in range(300):
        expression = random_expression(rng, 4)
        lines.append(f'printf("%.17g %lu\\n", (double)({expression}), sizeof({expression}));')
    before = ("char c = -3; unsigned char uc = 250; short s = -300; unsigned short us = 65000; int i = -70000;"
              "unsigned u = 4000000000u;"
              "long l = -5000000000; unsigned long ul = 1UL << 63; float f = 0.1f; double d = -2.75; _Bool b = 1;")
    source = mapper("v = (int)n; i += v; d *= 1.25; u -= v; s += v;" + "\n".join(lines), before=before)
    # floating operands of & | ^ % are no C: those expressions are left out by the short casts above
    expected = output(build(PRELUDE + source, tmp_path / "source", std="gnu11"), b"one\nanother\n")
    assert output(build_ir(analyse(source)[0].program, tmp_path / "ir"), b"one\nanother\n") == expected


ALL = [source_of(n) for n in PROGRAMS] + [FOLDS[n].source for n in list(FOLDS)[:8]]
ALL += [mapper(body, before=before, helpers=helpers) for helpers, before, body, _ in list(CASES.values())[::4]]


@pytest.mark.parametrize("number", range(len(ALL)))
def test_text_reads_back(number: int) -> None:
    program = analyse(ALL[number])[0].program
    text = print_ir(program)
    assert read_ir(text) == program
    assert print_ir(read_ir(text)) == text


def body_of(source: str) -> str:
    """The printed record loop's body, one line."""
    text = print_ir(analyse(source)[0].program)
    inside = text.partition("[[hd::records]]")[2].partition("{\n")[2]
    return re.sub(r"\s+", " ", inside.partition("\n    }")[0]).strip()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("v = line[0] + 'a';", "v = (int)line[0] + 97;"),
        ("line[0] += n;", "v += (int)n;"),  # replaced below: the sum is done in long
        ("k[v] = v;", "k[v] = (char)v;"),
        ("v = sizeof k + 2 * 3;", "v = 38;"),
        ("v = n ? 1 : 2.5;", "v = (int)(n ? 1.0 : 2.5);"),
        ("if (strchr(line, 9)) v = 1;", "if (strchr((const char *)line, 9)) { v = 1; }"),
        ("printf(\"a%%b%5d\\n\", v);", '__emit("printf", "a%%b%5d\\n", v);'),
        ("puts(\"x\"); putchar(10);", '__emit("puts", "x\\n"); __emit("putchar", "\\n");'),
        ("fprintf(stderr, \"e %d\", v); exit(3);", '__stderr("fprintf", "e %d", v); __exit("exit", 3);'),
        ("fwrite(k, 1, n, stdout);", '__emit("fwrite", "%!", (const void *)k, 1UL, (unsigned long)n);'),
        ("{ int v = 1; k[0] = v; }", "{ int v$2 = 1; k[0] = (char)v$2; }"),
    ])
def test_statement(statement: str, expected: str) -> None:
    if statement == "line[0] += n;":
        expected = "line[0] += n;"  # target (char), value (long): computed in long, converted back
    assert body_of(mapper(statement)) == expected


@pytest.mark.parametrize(
    ("helpers", "statement", "what"),
    [
        ("struct b { int a : 3; }; struct b g;", "v = g.a;", "bit-field 'a'"),
        ("", "long double x = n; v = x > 1;", "long double"),
        ("", "v = L\"x\"[0];", "wide string"),
        ("", "int m[2][n]; v = (*m)[0];", "'m', an array of several variable dimensions"),
        ("", "int m[2][n][3][n]; v = m[1][0][1] != m[1][1];", "part of 'm'"),
        ("", "int m[2][n]; v = &m[1] != 0;", "pointer to a row"),
        ("static int f(int n, int (*a)[n]) { return a[0][0]; }", "v = f(1, 0);", "'a', a pointer to rows"),
    ])
def test_what_has_no_form_stays_with_its_reason(helpers: str, statement: str, what: str) -> None:
    analysis, _ = analyse(mapper(f"v = 1;\n{statement}\nstrcpy(k, line);", helpers=helpers))
    reasons = [r for r in analysis.refusals if r.code == "HD330"]
    assert any(what in r.message for r in reasons), analysis.refusals
    assert all(re.search(r":\d+", r.place) for r in reasons)
    assert "strcpy(k" in print_ir(analysis.program)  # its neighbours are there


def test_region_inside_what_has_no_form() -> None:
    source = mapper("v = 1;").replace("int main(void) {", "int main(void) { struct { int a : 3; } s; if (s.a) {")
    source = source.replace("return 0;", "} return 0;")
    analysis, _ = analyse(source)
    assert {"HD330", "HD228"} <= {r.code for r in analysis.refusals}


@pytest.mark.parametrize(
    "text", ["", "int x;", "static int main(void);\nstatic int main(void)\n{\n  return 0;\n}\n", "no C at all {"])
def test_other_text_is_no_ir(text: str) -> None:
    with pytest.raises(CompilerBug):
        read_ir(text)


def test_spans_point_at_the_source() -> None:
    program = analyse(mapper("v = (int)n;\n  strcpy(k, line);"))[0].program
    calls = [n for n in ir_walk.walk(program.region.body) if isinstance(n, ir.Call)]
    assert [(expr_text(c), c.span.col) for c in calls] == [("strcpy(k, (const char *)line)", 3)]


def test_combine_region_keeps_its_clauses() -> None:
    program = analyse(combiner("count += val;", before="char word[9], prev[9]; int count = 0, val;"))[0].program
    region = program.region
    assert isinstance(region, ir.CombineRegion)
    assert (region.key, region.value, region.keyin, region.valuein) == ("prev", "count", "word", "val")
    assert region.firstprivate == ("prev", "count") and region.keylength == 32


@pytest.mark.parametrize(
    "statement",
    ["do { int a = v; v = a; } while (g.a);", "for (int i = 0; i < g.a; i++) v = i;",
     "switch (v) { case 1: v = g.a; int c = 2; v = c; }", "long double z = 1; { int z2 = 1; v = z2; } v = z != 0;",
     "while (n < 3) { int q = 1; if (g.a) { int r = q; v = r; } }"])
def test_parts_of_what_has_no_form(statement: str) -> None:
    """What is dropped leaves nothing behind that the rest would miss (the passes are verified)."""
    helpers = "static struct { int a : 3; } g; static int z = 4;"
    analysis, _ = analyse(mapper(f"v = 1; {statement} strcpy(k, line);", helpers=helpers))
    assert "HD330" in {r.code for r in analysis.refusals}


def test_region_inside_a_loop_that_has_no_form() -> None:
    source = mapper("v = 1;", helpers="static struct { int a : 3; } g;")
    source = source.replace("#pragma", "do {\n#pragma").replace("  free(line);", "  } while (g.a);\n  free(line);")
    assert "HD330" in {r.code for r in analyse(source)[0].refusals}
