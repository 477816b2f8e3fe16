"""Cleaning: what is dropped keeps every other token's column; what changes the meaning is named with its line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycparser import c_ast

from heterodoop.compiler.source.clean import PRELUDE, Cleaned, clean
from heterodoop.compiler.source.line_markers import PpLine, read_lines
from heterodoop.compiler.source.parse import ParseFailure, parse
from heterodoop.compiler.source.preprocess import TOKEN, Columns
from heterodoop.source import SourceFile, SourceMap


def cleaned(text: str, *, gnu: bool = True) -> Cleaned:
    return clean([PpLine("m.c", i, line, False) for i, line in enumerate(text.split("\n"), 1)], gnu=gnu)


def tree(text: str, *, gnu: bool = True) -> c_ast.FileAST:
    result = cleaned(text, gnu=gnu)
    assert result.refusal is None, result.refusal
    sources = SourceMap()
    sources.add(SourceFile("m.c", text))
    return parse(result, Columns(sources, result.lines), gnu=gnu)


@pytest.mark.parametrize(
    "text",
    [
        "static int __attribute__((noinline)) f(int x) __attribute__((const));",
        "char k[32] __attribute__((aligned(16))), *p;",
        "int __attribute__((unused)) d = 0, v;",
        "void f(char *s __attribute__((nonnull)), ...) __attribute__((format(printf, 1, 2)));",
        "__extension__ typedef long long ll; ll x;", "static __inline int f(void) { return 1; }",
        "static __inline__ int f(void);",
        "int f(char *__restrict a, char *__restrict__ b, char *restrict c);", "extern int f(void) __asm__(\"g\");",
        "extern int g(int) asm(\"h\") __attribute__((nothrow));", "_Noreturn void die(int);",
        "const __const int __volatile__ x;",
        "__signed__ char c; __signed char d;", "static __thread int t; _Thread_local int u;",
        "[[gnu::unused]] static int v [[deprecated(\"x\")]];",
        "int f(void) { __label: return 1; }", "unsigned __int128 w; __int128_t s; __uint128_t u;",
        "int a<:2:> = <% 1, 2 %>;",
        "_Static_assert(sizeof(int) == 4, \"x\"); _Alignas(8) struct { union { int i; float f; }; } u;",
        "int x = _Generic(1, int: 1, default: 2);",
        "int f(int n) { switch (n) { case 1: case 2: return 1; default: ; } return 0; }",
        "struct s { int n; char data[]; }; struct s *p;", "int (*table[3])(int), f(int);",
        "int f() { int a[] = {1, [3] = 2}; return a[0]; }",
        "int f(void) { if (1) while (0) ; else do ; while (0); for (;;) { break; } return 0; }",
        "long a = sizeof(struct { int x; });",
        "int __alignof__x; unsigned long a = __alignof__(int), b = __builtin_offsetof(struct { int q; int r; }, r);",
        "int f(int c) { return __builtin_expect(c, 1) && !c; }", "int f(int a, int b) { return a && b; }",
        "double d = 0x1p-3 + 1e3 + .5f;",
        "typedef struct { int a; } rec; void f(void) { rec rec = {1}, *p = &rec; p->a = rec.a; }",
        "typedef int t; int f(void) { t *t = 0, n = sizeof(*t); return n + (t == 0); }",
        "typedef int a, b; void f(void) { typedef a c, d; c x; d y; { int c = 1, z = c * 2; (void)z; } c w; }",
        "typedef int t; void f(void) { struct { int t; } s; t x = 1; s.t = x; }",
        "int x; __typeof__(x) y; typeof(x + 1) z;",
        "int f(void) { char *s = \"({\", c = '{'; return s[0] == c; }",
        "int f(int (*g)(int)) { return (*g)((int){3}); }",
        "struct p { int x, y; }; int f(void) { struct p q = (struct p){.x = 1, .y = 2}; return q.x; }",
        "int f(void) { return ({ int a = 1; a; }) + f(); }", "int f(int n) { return n ?: f(n ? : 3); }",
        "int f(int n) { switch (n) { case 1 ... 5: case 'a'...'z': return 1; } return 0; } int a[10] = { [0 ... 9] = 1 };",
        "int f(n, p) int n; char *p; { return n + *p; }", "enum { A, B = 3, }; int f(int), g(enum e { C } x);",
    ],
)
def test_accepted(text: str) -> None:
    tree(PRELUDE.replace("\n", " ") + text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("int f(void) {\n asm(\"nop\"); return 0; }", "asm"),
        ("\n__asm__(\"nop\");", "asm"),
        ("int f(void) {\n __asm__ volatile (\"nop\" ::: \"memory\"); return 0; }", "asm"),
        ("int f(void) {\n int g(int x) { return x; } return g(1); }", "nested function"),
        ("int f(void) {\n static struct s *g(int x) { return 0; } return 0; }", "nested function"),
        ("int f(void) { void *p =\n &&here; here: return 0; }", "label as a value"),
        ("int f(void *p) {\n goto *p; }", "computed goto"),
        ("struct s {\n int a; } __attribute__((packed));", "attribute packed"),
        ("struct\n __attribute__((__packed__)) s { int a; };", "packed"),
        ("typedef float v4\n __attribute__((vector_size(16)));", "vector extension"),
        ("struct s {\n int a __attribute__((aligned(16))); };", "aligned"),
        ("typedef int big\n __attribute__((aligned(64)));", "aligned"),
        ("struct s { int a; }\n __attribute__((aligned(16)));", "aligned"),
        ("int f(void) {\n int x __attribute__((cleanup(g))) = 1; return x; }", "cleanup"),
        ("\nvoid f(void) __attribute__((constructor));", "constructor"),
        ("\n__auto_type x = 1;", "__auto_type"), ("\ndouble _Complex z;", "complex number"),
        ("\n_Float128 f;", "type _Float128"),
        ("\n__float128 f;", "type __float128"), ("\n_Decimal64 d;", "type _Decimal64"),
        ("int f(void) {\n __label__ a; return 0; }", "local label"),
        ("char *s =\n R\"(raw)\";", "raw string"),
        ("int x =\n __builtin_types_compatible_p(int, long);", "types_compatible_p"),
        ("int x =\n __builtin_choose_expr(1, 2, 3);", "choose_expr"),
        ("\n#pragma pack(1)\nstruct s { char c; int i; };", "#pragma pack"),
        ("\n#pragma GCC optimize(\"Ofast\")\nint i;", "#pragma GCC optimize"),
        ("\n#pragma STDC FP_CONTRACT ON\nint i;", "#pragma STDC FP_CONTRACT ON"),
        ("\n__attribute__((optimize(\"fast-math\"))) int f(void);", "attribute optimize"),
        ("\n[[gnu::packed]] struct s { int a; };", "attribute packed"),
    ],
)
def test_refused_by_name_and_line(text: str, what: str) -> None:
    refusal = cleaned(text).refusal
    assert refusal is not None and what in refusal.what and refusal.line == text[: text.index("\n")].count("\n") + 2


@pytest.mark.parametrize(("gnu", "refused"), [(True, True), (False, False)])
def test_asm_is_a_plain_name_in_strict_c(gnu: bool, refused: bool) -> None:
    assert (cleaned("int f(void) { int asm = 1; return asm; }", gnu=gnu).refusal is not None) == refused


def test_foreign_pragmas_leave_the_guarded_statement_alone() -> None:
    text = "int f(int n) { int v = 0;\n if (n)\n#pragma vendor hint one\n#pragma vendor hint two\n  v = 1;\n return v; }"
    branch = tree(text).ext[0].body.block_items[1]
    assert isinstance(branch, c_ast.If) and isinstance(branch.iftrue, c_ast.Assignment)


def test_directives_are_numbered() -> None:
    text = "void f(void) {\n#pragma mapreduce mapper key(a)\n while (1) ;\n # pragma  mapreduce combiner\n while (2) ; }"
    items = tree(text).ext[0].body.block_items
    pragmas = [(i.string, i.coord.line) for i in items if isinstance(i, c_ast.Pragma)]
    assert pragmas == [("mapreduce 0", 2), ("mapreduce 1", 4)]


def test_columns_stay() -> None:
    text = "static __inline__ int __attribute__((unused)) f(int *__restrict__ here) { return *here; }"
    result = cleaned(text)
    assert len(result.lines[0].text) == len(text) and result.lines[0].text.index("here") == text.index("here")
    func = tree(text).ext[0]
    assert func.decl.type.args.params[0].type.type.coord.column == text.index("here") + 1
    assert func.coord.column == text.index("f(int") + 1


def test_columns_of_tokens_that_a_macro_moved() -> None:
    """`N` became `10000`, so `b` moved; `x` is also inside the macro's text, so its place is not told."""
    sources = SourceMap()
    sources.add(SourceFile("m.c", "int a[N], b = SQUARE(x) + x; // b"))
    lines = [PpLine("m.c", 1, "int a[10000], b = ((x) * (x)) + x;", False)]
    columns = Columns(sources, lines)
    assert columns.find("m.c", 1, "b", 0) == 11
    assert [columns.find("m.c", line, token, 0) for line, token in ((1, "x"), (1, "10000"), (9, "x"))] == [0, 0, 0]


def test_line_markers() -> None:
    head = '# 0 "<built-in>"\n#define X\n# 3 "a \\"b\\\\\\n\\303\\274.c" 1\nint x;\n'
    text = head + '# 7 "/usr/include/s.h" 1 3 4\nint y;\n# 4 "./-o.c" 2\n\nint z;'
    found = [(line.file, line.line, line.text, line.system) for line in read_lines(text, {"./-o.c": "-o.c"}, SourceMap())[0]]
    assert found == [
        ("<built-in>", 0, "#define X", True), ('a "b\\\nü.c', 3, "int x;", False),
        ("/usr/include/s.h", 7, "int y;", True),
        ("-o.c", 4, "", False), ("-o.c", 5, "int z;", False),
    ]


@pytest.mark.parametrize("text", [
    "int x = ;", "int f(", "x y z;", "int 3;", "int größe;", "int a[\n", "@", "int x = 089;", "((((" * 20000,
])
def test_what_the_parser_cannot_take_is_a_parse_failure(text: str) -> None:
    with pytest.raises(ParseFailure) as failure:
        tree(text)
    assert failure.value.line <= 2


PIECES = st.sampled_from(
    [
        "__attribute__", "((packed))", "(", ")", "{", "}", "[", "]", "[[", "]]", "asm", "struct", "typedef", "case",
        "...", "&&", "?", ":", ";",
     "goto", "*", "x", "int", '"s"', "'c'", "1", "=", ",", "\n", "#pragma mapreduce mapper", "#pragma pack(1)",
     "__extension__", "({", "/*",
    ],
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=30))
def test_any_tokens_keep_their_columns(pieces: list[str]) -> None:
    text = " ".join(pieces)
    result = cleaned(text)
    for before, after in zip(text.split("\n"), (line.text for line in result.lines), strict=True):
        if not before.lstrip().startswith("#"):
            kept = {(m.start(), m[0]) for m in TOKEN.finditer(after) if m[0].strip()}
            assert len(after) == len(before) and all(before.startswith(token, at) for at, token in kept)
    try:
        parse(result, Columns(SourceMap(), result.lines), gnu=True)
    except ParseFailure:
        pass
