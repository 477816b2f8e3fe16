"""Types, layouts and constants against what the C compiler itself says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pycparser import CParser, c_ast

from heterodoop.compiler.types import ctype, literals
from heterodoop.compiler.types.table import TypeTable, Unsupported, basic_type, const_eval, expr_type

DECLS = """
typedef unsigned long size_t;
typedef struct { char name[5]; short a; double d; } rec;
struct node { struct node *next; int key; char tail; };
struct bits { unsigned a : 3; unsigned b : 30; char c; unsigned : 0; unsigned long d : 40; short e : 9; };
struct mixed { char c; union { int i; float f; char text[7]; }; struct { short x, y; } in; long double *p; };
union u { char c[9]; int i; };
struct flex { int n; char data[]; };
struct over { _Alignas(16) char c; int i; };
enum color { RED, GREEN = 5, BLUE };
enum neg { LOW = -1, HIGH };
enum big { BIG = 0x80000000u };
typedef int row[3];
static int grid[4][5];
static char text[] = "a\\x41\\0z\\n" "tail";
static int list[] = { 1, 2, [7] = 3, 4 };
static row rows[] = { {1}, {2, 3} };
static const char *words[] = { "a", "bb", "ccc" };
static unsigned short us; static signed char sc; static float fl; static long long ll; static rec r;
static int function(int a, char b[], double (*f)(int));
static void *vp; static const char *const cpc = "x"; static int (*fp[3])(int);
"""
CONSTANTS = [
    "sizeof(rec)", "sizeof(struct node)", "sizeof(struct bits)", "sizeof(struct mixed)", "sizeof(union u)",
    "sizeof(struct flex)",
    "sizeof(struct over)", "_Alignof(struct over)", "sizeof grid", "sizeof grid[0]",
    "sizeof(grid) / sizeof(grid[0][0])",
    "sizeof text", "sizeof list", "sizeof rows", "sizeof words / sizeof *words", "sizeof r.name", "sizeof((rec *)0)->d",
    "sizeof(us + sc)", "sizeof(fl * 2)", "sizeof(fl + 2.0)", "sizeof(ll ? 1 : 2L)", "sizeof 'a'", "sizeof fp",
    "sizeof \"abc\"", "sizeof(&grid)", "sizeof function(1, 0, 0)", "sizeof(us = 1)", "sizeof(row)",
    "sizeof(unsigned char[3][2])",
    "RED", "GREEN", "BLUE", "LOW", "HIGH", "BIG > 0", "sizeof(enum color)", "sizeof(enum big)", "(enum color)-1 < 0",
    "(enum neg)-1 < 0",
    "~0u", "-1 > 0u", "1 << 31", "-8 >> 1", "-7 / 2", "-7 % 2", "7 % -2", "0x80000000 > 0", "017", "0b101",
    "4294967296", "1u - 2",
    "(char)300", "(unsigned char)-1", "(_Bool)7", "(int)3.99", "(int)-3.99", "1.5 > 1", "(short)0x12345", "!0 + !5",
    "3 ? 4 : 5",
    "0 && (1/0)", "1 || (1/0)", "'\\377'", "'ab'", "'\\x7f'", "'\\n' + '\\0'", "(long)1 << 40", "5 & 6 ^ 3 | 8",
    "sizeof(int) * 8 - 1",
    "(int)(0.1f + 0.2f == 0.3f)", "100 / 3 * 3", "(1ull << 63) >> 62", "(int)sizeof(long double)",
    "__builtin_offsetof(rec, d)",
    "__builtin_offsetof(struct mixed, text[2])", "__builtin_offsetof(struct mixed, in.y)",
    "__builtin_offsetof(struct over, i)",
    "_Generic(us, int: 1, unsigned short: 2, default: 3)", "_Generic(cpc, const char *: 4, default: 5)",
    "_Generic(1.0f, double: 1, default: 2)",
]


def table(source: str) -> tuple[TypeTable, c_ast.FileAST]:
    ast = CParser().parse(source)
    types = TypeTable()
    for node in ast.ext:
        if isinstance(node, c_ast.Decl | c_ast.Typedef):
            types.declare(node)
    return types, ast


def respelt(text: str) -> str:
    return text.replace("__builtin_offsetof", "offsetof")


def test_constants_are_those_of_the_compiler(tmp_path: Path) -> None:
    exprs = [e for e in CONSTANTS if e != "sizeof(char)'a'"]
    decls = DECLS.replace("\\", "\\")
    lines = "".join(f'  printf("%lld\\n", (long long)({e}));\n' for e in exprs)
    (tmp_path / "c.c").write_text(f"#include <stdio.h>\n{decls}\nint main(void) {{\n{lines}  return 0; }}\n")
    subprocess.run(["cc", "-w", "-fwrapv", "-o", tmp_path / "c", tmp_path / "c.c"], check=True)
    expected = subprocess.run([tmp_path / "c"], check=True, capture_output=True, text=True).stdout.split()
    source = decls + "".join(f"static int e{i} = {respelt(e)};\n" for i, e in enumerate(exprs))
    types, ast = table(source)
    inits = [n.init for n in ast.ext if isinstance(n, c_ast.Decl) and n.name and n.name[0] == "e" and n.name[1:].isdigit()]
    got = [const_eval(node, types) for node in inits]
    signed = [None if v is None else ctype.wrap(ctype.LONG, v) for v in got]
    assert list(zip(exprs, map(str, signed), strict=True)) == list(zip(exprs, expected, strict=True))


@pytest.mark.parametrize("text", [
    "x", "f(1)", "1 / 0", "1 % 0", "1 << 40", "sizeof(void)", "x + 1", "(int)1e30", "\"s\"", "&x", "++x",
])
def test_what_is_not_constant_has_no_value(text: str) -> None:
    types, ast = table(f"static int x; int f(int); static int e = {text};")
    assert const_eval(ast.ext[-1].init, types) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("words", "const char *[3]"), ("words[0]", "const char *"), ("*words[0]", "char"), ("&grid", "int[4][5] *"),
        ("r.name", "char[5]"),
        ("function", "int (int, char *, double (int) *)"), ("fp[0]", "int (int) *"), ("fp[0](1)", "int"),
        ("us << ll", "int"),
        ("us ? fl : 1", "float"), ("vp", "void *"), ("cpc + 1", "const char *"), ("words - words", "long"),
        ("(ll, us)", "unsigned short"),
        ("us + ll", "long long"), ("sizeof us", "unsigned long"), ("-us", "int"), ("us++", "unsigned short"),
        ("2[words]", "const char *"),
        ("(row){1}", "int[3]"), ("(int[]){1, 2}", "int[2]"), ("1u + 1l", "long"), ("1ul + 1ll", "unsigned long long"),
        ("L\"ab\"", "int[3]"),
    ],
)
def test_expression_types(text: str, kind: str) -> None:
    types, ast = table(DECLS.replace("\\", "\\") + f"static int last = {text};")
    assert str(expr_type(ast.ext[-1].init, types)) == kind


@pytest.mark.parametrize(
    ("decl", "kind"),
    [
        ("int a[3][4];", "int[3][4]"), ("char *argv[];", "char *[]"), ("const char *p;", "const char *"),
        ("char *const p;", "char *"),
        ("char *const *p;", "const char * *"), ("int (*f)(void);", "int (void) *"),
        ("int f(char [], ...);", "int (char *, ...)"),
        ("long unsigned int x;", "unsigned long"), ("unsigned __int128 w;", "unsigned __int128"),
        ("signed char c;", "signed char"),
        ("long double d;", "long double"), ("struct s *p;", "struct s *"), ("struct { int a; } x;", "struct .1"),
        ("_Bool b;", "_Bool"),
        ("int n[] = {1, 2, 3};", "int[3]"), ("char s[] = {\"ab\"};", "char[3]"), ("char s[10] = \"ab\";", "char[10]"),
        ("_Alignas(8) int a;", "int"), ("_Atomic int a;", "int"), ("_Atomic(long) a;", "long"),
        ("int a[sizeof(int) * 2];", "int[8]"),
    ],
)
def test_declarations(decl: str, kind: str) -> None:
    types, ast = table(decl)
    found = types.lookup(ast.ext[-1].name)
    assert found is not None and str(found.ctype) == kind


def test_scopes_shadow_names_and_tags() -> None:
    types, ast = table("typedef int t; struct s { char c; }; struct s outer;")
    inner = CParser().parse("struct s { double d[4]; } x; enum { t = 7 };")
    with types.scope():
        kind = types.declare(inner.ext[0])
        types.declare(inner.ext[1])
        assert types.layouts.size(kind) == 32
        assert types.lookup("t").kind == "enumerator"  # type: ignore[union-attr]
    assert types.lookup("t").kind == "typedef" and types.lookup("x") is None  # type: ignore[union-attr]
    assert types.layouts.size(types.lookup("outer").ctype) == 1  # type: ignore[union-attr]


def test_self_reference_and_forward_declared_struct() -> None:
    types, _ = table("struct a; struct a { struct a *me; struct b *other; int x; }; struct b { struct a a; };")
    layout = types.layouts.table["b"]
    assert layout.size == 24 and layout.fields[0].type == ctype.Struct("a")


def test_parameters_are_adjusted_and_old_style_ones_found() -> None:
    types, ast = table("int unused;")
    func = CParser().parse("int f(int a, char b[3], int g(void)) { return 0; } int k(x, y) char *x; double y; { return 0; }")
    params = types.declare_params(func.ext[0])
    assert [(n, str(k)) for n, k, _ in params] == [("a", "int"), ("b", "char *"), ("g", "int (void) *")]
    assert [(n, str(k)) for n, k, _ in types.declare_params(func.ext[1])] == [("x", "char *"), ("y", "double")]


def test_incomplete_array_keeps_the_length_declared_before() -> None:
    types, _ = table("int a[3]; extern int a[];")
    assert str(types.lookup("a").ctype) == "int[3]"  # type: ignore[union-attr]


@pytest.mark.parametrize("decl", ["double _Complex z;", "nope x;"])
def test_unknown_types_are_named(decl: str) -> None:
    ast = CParser().parse("typedef int nope;" + decl)
    with pytest.raises(Unsupported, match=r"_Complex|nope"):
        TypeTable().declare(ast.ext[1])


def test_type_words_in_any_order() -> None:
    assert basic_type(["int", "long", "unsigned", "long"]) == ctype.ULLONG
    assert basic_type(["size_t"]) is None and basic_type(["short", "double"]) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\tb"', b"a\tb"), ('"\\101\\x42"', b"AB"), ('"\\1" "23"', b"\x0123"),
        ('u8"é"', b"\xc3\xa9"), ('"\\u00e9"', b"\xc3\xa9"), ('""', b""),
    ],
)
def test_string_bytes(text: str, value: bytes) -> None:
    assert literals.string_bytes(text) == value


def test_float_constants_round_to_their_type() -> None:
    assert literals.float_value("0.1f") == (0.10000000149011612, ctype.FLOAT)
    assert literals.float_value("0x1.8p3")[0] == 12.0
    with pytest.raises(Unsupported):
        literals.float_value("1.0L")
    assert literals.to_float(1e300) == float("inf")
