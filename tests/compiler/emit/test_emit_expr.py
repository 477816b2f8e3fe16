"""C expressions -> CUDA text, construct by construct: what wraps, what is checked, what stays as the user wrote it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heterodoop.compiler.decide.cuda_names import RESERVED

from ..regions import cuda, mapper

ROOT = Path(__file__).resolve().parents[3]
DECLARED = "int a, b; long l; unsigned u; char c; short s; double d; float f; char *p; char t[8]; unsigned long w; int m[4];"
START = (
    "a = b = 1; l = 2; u = 3; c = 'x'; s = 4; d = 0.5; f = 1; p = line; w = 9; memset(t, 0, sizeof t); "
    "m[0] = 0; m[1] = 0; m[2] = 0; m[3] = 0;"
)
END = 'v = a + b; k[0] = c; k[1] = 0; printf("%s\\t%d\\n", k, v);'


def kernel(body: str, *, helpers: str = "", before: str = DECLARED) -> str:
    """The kernel of a line mapper with variables of every type and `body` in its loop."""
    start = START if before is DECLARED else ""
    return cuda(mapper(f"{start}\n{body}\n{END}", before=before, helpers=helpers))


# C statement -> CUDA statement
STATEMENTS = {
    # signed arithmetic wraps, other arithmetic needs no help
    "a = a + b;": "a = hd::add(a, b);",
    "l = l * a - 1;": "l = hd::sub(hd::mul(l, (long)a), 1L);",
    "a = -b;": "a = hd::neg(b);",
    "u = u * 3 + 1;": "u = u * 3U + 1U;",
    "d = d * 2 - f;": "d = d * 2.0 - (double)f;",
    "a = c - '0';": "a = c - '0';",
    "a = s + c;": "a = s + c;",
    "a = (c == 'x') + 2;": "a = (c == 'x') + 2;",
    "a = a * (b ? a < 2 : !b);": "a = hd::mul(a, (int)(b ? a < 2 : !b));",
    "a = (a < b) * a;": "a = hd::mul((int)(a < b), a);",
    # division and remainder are checked unless the divisor is known to be harmless
    "a = a / 10;": "a = a / 10;",
    "a = a % -1;": "a = hd::remainder(hd, a, -1, LINE);",
    "a = a / b;": "a = hd::divide(hd, a, b, LINE);",
    "u = u % 7;": "u = u % 7U;",
    "l /= a;": "hd::divide_to(hd, l, (long)a, LINE);",
    "s %= 5;": "s %= 5;",
    # shifts mask their count
    "a = a << 3;": "a = hd::shl(a, 3);",
    "u = u << 3;": "u = u << 3;",
    "a = a >> 2;": "a = a >> 2;",
    "u = u >> a;": "u = hd::shr(u, a);",
    "s <<= 2;": "hd::shl_to(s, 2);",
    # compound assignment computes in C's type, its target evaluated once
    "a += b;": "hd::add_to(a, b);",
    "u += a;": "u += (unsigned int)a;",
    "t[a++] += 2;": "hd::add_to(t[hd::within<8>(hd, hd::post_inc(a), LINE)], 2);",
    "d += 1;": "d += 1.0;",
    "a *= d;": "hd::mul_to(a, d);",
    "c ^= 1;": "c ^= 1;",
    "p += 2;": "p += 2;",
    # steps
    "a++;": "hd::increment(a);",
    "--l;": "hd::decrement(l);",
    "b = a--;": "b = hd::post_dec(a);",
    "c++;": "c++;",
    "b = *p++;": "b = *p++;",
    "w--;": "w--;",
    # conversions are x86's, those that C++ makes by itself are left to it
    "a = d;": "a = hd::to_i32(d);",
    "c = (char)f;": "c = (char)hd::to_i8(f);",
    "u = d;": "u = hd::to_u32(d);",
    "c = a;": "c = a;",
    "l = a;": "l = a;",
    "a = (unsigned char)c;": "a = (unsigned char)c;",
    "f = d;": "f = d;",
    # the library
    "a = strlen(p);": "a = hd::strlen(p);",
    'p = strchr(p, 9);': "p = hd::strchr(p, 9);",
    'a = strcmp(p, "ab") < 0;': 'a = hd::strcmp(p, "ab") < 0;',
    'p = strtok(t, " ");': 'p = hd::strtok(hd.token, t, " ");',
    "l = strtol(p, NULL, 10);": "l = hd::strtol(hd.err, p, nullptr, 10);",
    "a = atoi(p);": "a = hd::atoi(p);",
    "memcpy(t, m, 4);": "hd::memcpy(t, m, 4UL);",
    'a = sscanf(p, "%d", &b);': 'a = hd::sscanf(hd, LINE, p, "%d", &b);',
    # output
    'printf("%s=%5d|%c%%\\n", t, a, c);':
        'hd.print(hd::str(t), hd::text("=", 1), hd::integer(hd::spec(0, 5, -1, \'d\'), a), hd::text("|", 1), hd::chr(c), '
        'hd::text("%\\n", 2));',
    'printf("%-*.*f\\n", a, b, d);':
        'hd.print(hd::real(hd::spec(1, a, b, \'f\'), hd::checked(hd, d, LINE)), hd::text("\\n", 1));',
    'printf("%hhx %lu %u\\n", a, w, a);':
        "hd.print(hd::natural(hd::spec(0, 0, -1, 'x'), (unsigned char)a), hd::text(\" \", 1), hd::dec(w), "
        'hd::text(" ", 1), hd::dec((unsigned int)a), hd::text("\\n", 1));',
    'fprintf(stderr, "%d\\n", a);': 'hd.warn(hd::dec(a), hd::text("\\n", 1));',
    'a = puts(t);': 'a = hd.print(hd::str(t), hd::text("\\n", 1));',
    'a = fputs(t, stdout), puts("");': 'a = (hd.print(hd::str(t)), 1), hd.print(hd::text("\\n", 1));',
    "a = putchar(c), puts(t);": 'a = hd::put(hd, c), hd.print(hd::str(t), hd::text("\\n", 1));',
    'sprintf(t, "%d", a);': "hd::sprint_in(hd, LINE, hd::roomy(t, 8UL), hd::dec(a));",
    'snprintf(t, 8, "%d", a);': "hd::snprint(t, 8UL, hd::dec(a));",
    'a = snprintf(t, 8, "%.3s", line);': "a = hd::snprint(t, 8UL, hd::str(hd::spec(0, 0, 3, 's'), line));",
    "if (a == 3) exit(1);": "if (a == 3) hd.fail(hd::Status::exit_called, LINE);",
    # control
    "while (a) a--;": "while (a) hd::decrement(a);",
    "for (a = 0, b = 9; a < b; a++, b--) c++;": "for (a = 0, b = 9; a < b; hd::increment(a), hd::decrement(b)) c++;",
    "if (!p || *p == '\\n') continue;": "if (!p || *p == '\\n') continue;",
    "a = m[c] ? b : 7;": "a = m[hd::within<4>(hd, (int)c, LINE)] ? b : 7;",
    "b = (a++, l > 2);": "b = (hd::increment(a), l > 2L);",
}


@pytest.fixture(scope="module")
def text() -> str:
    """Each statement finds the pointer where it may be read without a check."""
    body = "\n".join(f"p = line;\n{statement}" for statement in STATEMENTS)
    return " ".join(line.strip() for line in kernel(body).splitlines())


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statement(statement: str, text: str) -> None:
    expected = STATEMENTS[statement]
    before, _, after = expected.partition("LINE")
    if not after:
        assert f" {expected} " in text
        return
    rest = text[text.index(f" {before}") + len(before) + 1 :]
    number = rest.split(after[0])[0]
    assert number.isdigit() and rest[len(number) :].startswith(f"{after} "), rest[:60]


def test_names_of_cpp_and_ours_get_an_underscore() -> None:
    found = kernel("class = 1; this_ = class + hd;", before="int class, this_, hd; char c = 'c'; int a = 1, b = 1; hd = 5;")
    assert "class_ = 1;" in found and "this__ = hd::add(class_, hd_);" in found


def test_no_function_of_ours_is_found_in_place_of_the_programs() -> None:
    """A call with the lane as its argument finds templates of namespace hd as well: their names are ours."""
    heads = [line for path in (ROOT / "runtime" / "device").rglob("*.cuh") for line in path.read_text().splitlines()]
    found = {name for line in heads for name in re.findall(r"\b([a-z]\w*)\((?:const )?(?:Lane|L|G|T|Source) &", line)}
    assert {"put", "divide", "zero"} <= found <= RESERVED, found - RESERVED
    text = kernel("put(a);", helpers='static void put(char x) { printf("%c\\n", x); }')
    assert "put_(hd, a);" in text


def test_a_switch_declares_before_it_assigns() -> None:
    """C++ does not let a label jump over an initialisation."""
    found = kernel("switch (a) { case 1:; int x = b; v = x; break; case 2: v = 3; break; default: v = 1; }")
    assert "int x; x = b;" in found


def test_helpers_get_the_lane_only_where_they_need_it() -> None:
    helpers = (
        "static int twice(int x) { return x * 2; } static void say(int x) { printf(\"%d\\n\", x); } "
        "static int part(int x, int y) { return x / y; } static void both(int x) { say(twice(x)); }"
    )
    found = kernel("a = twice(b); both(a); b = part(a, 3);", helpers=helpers)
    assert "static __device__ int twice(int x);" in found and "a = twice(b);" in found
    assert "static __device__ void say(Ctx &hd, int x);" in found and "both(hd, a);" in found
    assert "static __device__ int part(Ctx &hd, int x, int y);" in found
    assert "say(hd, twice(x));" in found


def test_a_function_that_may_end_without_return_returns_something() -> None:
    """C allows it where nobody uses the value; C++ takes the end for unreachable."""
    assert "return {};" in kernel("say(a);", helpers='static int say(int x) { printf("%d\\n", x); }')


def test_statics_that_the_loop_writes_are_each_threads_own() -> None:
    found = kernel("a = next(b);", helpers="static int last; static int next(int x) { last = x; return last + 1; }")
    assert "struct Globals {\n    int last;\n};" in found and "hd.globals.last = x;" in found
    assert "HD_FILL(hd.globals);" in found


def test_structs_have_the_layout_of_the_filter() -> None:
    helpers = "struct item { char tag; long value; struct item *next; };"
    found = kernel("struct item x = {'a', b, NULL}; a = x.tag;", helpers=helpers)
    offsets = "offsetof(struct item, value) == 8 && offsetof(struct item, next) == 16"
    assert f"static_assert(sizeof(struct item) == 24 && {offsets}, " in found
    assert "struct item x = {'a', (long)b, nullptr};" in found


def test_tables_are_constants() -> None:
    helpers = 'static const char *const names[] = {"a", "b"}; static int sizes[2][2] = {{1}, {2, 3}};'
    found = kernel("p = (char *)names[b & 1]; a = sizes[1][0];", helpers=helpers)
    assert 'static __device__ const char *const names[2] = {"a", "b"};' in found
    assert "static __device__ const int sizes[2][2] = {{1}, {2, 3}};" in found


def test_an_index_that_begins_with_a_bracket_begins_no_attribute() -> None:
    text = kernel("p = line; a = p[((struct s){3, 4}).x];", helpers="struct s { int x, y; };")
    assert "p[([&] { struct s made = {3, 4}; return made; }().x)]" in text


def test_copies_are_compared_only_where_source_and_target_may_overlap() -> None:
    text = kernel("strcpy(t, line); strcpy(t, p); memcpy(m + a, m, 4); snprintf(t, 8, \"%s\", t + a); memmove(t, t + 1, 3);",
                  helpers="void *memmove(void *, const void *, size_t);")
    assert text.count("hd::strcpy(") == 2 and "strcpy_apart" not in text and "hd::memmove(" in text
    assert "hd::memcpy_apart(hd, " in text and "hd::snprint_apart(hd, " in text and '#include "libc/overlap.cuh"' in text
    assert "libc/overlap.cuh" not in kernel("strcpy(t, p);")
