"""The device IR as text: what the lowering decides about each construct, and what it leaves over."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop import explain
from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.compile import summary
from heterodoop.compiler.device import nodes
from heterodoop.compiler.device.text import print_device
from heterodoop.compiler.passes import Analysis
from heterodoop.compiler.spine import analyse as analyse_app

from ..regions import LINES, analyse, combiner, mapper

DECLARED = (
    "int a, b; long l; unsigned u; char c; short s; double d; char *p; char t[8]; _Bool z; int m[4]; static int counted; "
    "static const int table[64] = {1, 2};"
)
START = "a = b = 1; l = 2; u = 3; c = 'x'; s = 4; d = 0.5; p = line; z = 0; memset(t, 0, sizeof t); memset(m, 0, sizeof m);"
END_PLAIN = 'k[0] = 0; printf("%s\\t%d\\n", k, v);'
END = 'v = a + b; k[0] = c; k[1] = 0; printf("%s\\t%d\\n", k, v);'


def device_text(analysis: Analysis) -> str:
    return print_device(analysis.facts.device)


def lowered(body: str, *, helpers: str = "", before: str = DECLARED) -> str:
    """The device IR of a line mapper with variables of every type and `body` in its loop."""
    start = START if before is DECLARED else ""
    return device_text(analyse(mapper(f"{start}\n{body}\n{END}", before=before, helpers=helpers))[0])


# C statement -> device IR
STATEMENTS = {
    # signed arithmetic that may overflow wraps, other arithmetic is C's
    "a = a + b;": "a@private = wrap_add(a@private, b@private);",
    "l = l * a - 1;": "l@private = wrap_sub(wrap_mul(l@private, (long)a@private), 1L);",
    "a = -b;": "a@private = wrap_neg(b@private);",
    "u = u * 3 + 1;": "u@private = u@private * 3U + 1U;",
    "a = s + c;": "a@private = (int)s@private + (int)c@private;",
    "a += b;": "wrap_add_to(a@private, b@private);",
    "c += 1;": "wrap_add_to(c@private, 1);",
    "l++;": "wrap_inc(l@private);",
    "b = a--;": "b@private = wrap_post_dec(a@private);",
    "z++;": "wrap_inc(z@private);",
    "u++;": "u@private++;",
    # division is checked unless the divisor is known to be harmless, shifts mask their count
    "a = a / 10;": "a@private = a@private / 10;",
    "a = a / b;": "a@private = divide(a@private, b@private);",
    "l %= a;": "remainder_to(l@private, (long)a@private);",
    "a = a << 3;": "a@private = shift_left(a@private, 3);",
    "u = u >> 2;": "u@private = u@private >> 2;",
    # a floating value becomes an integer as on x86
    "a = d;": "a@private = to_integer<int>(d@private);",
    # what may lie in the line is checked to lie there; a table is read where it lies
    "p[1] = 'y';": "in_line(p@private[1]) = (char)121;",
    "a = table[b & 63];": "a@private = table@constant[b@private & 63];",
    "counted = a;": "counted@lane = a@private;",
    # the library, with its state and what it writes
    "a = strlen(t);": "a@private = (int)strlen((const char *)t@private);",
    "l = strtol(p, NULL, 10);": "l@private = strtol(err, (const char *)p@private, (char **)0L, 10) {reads text 0 of line};",
    "p = strtok(NULL, \" \");": "p@private = strtok(token, (char *)0L, (const char *)\" \");",
    # output by pieces: plain numbers, others with what printf was told, reals whose sign is not known
    'printf("%d %5.1f%c\\n", a, d * 2, c);':
        "print(dec(a@private), \" \", real('f' flags 0 width 5 precision 1, sign_checked(d@private * 2.0)), "
        "chr((int)c@private), \"\\n\");",
    'printf("%.08d", b);': "print(integer('d' flags 0 width 0 precision 8, b@private));",
    'printf("%s%d", t, a++);': "let hd_0 = t@private, hd_1 = wrap_post_inc(a@private) in "
        "print(str((const char *)hd_0), dec(hd_1));",
    'a = putchar(c);': "a@private = put_stdout((int)c@private);",
    'sprintf(t, "%d", b);': "print_to(t@private, dec(b@private)) {room for 0 in 8 bytes};",
    'if (a > 9) exit(1);': "fail();",
    'if (a > 8) perror("many"), exit(1);': "warn(\"many\"), fail();",
}


def test_each_statement() -> None:
    text = lowered("\n".join(STATEMENTS), helpers="void perror(const char *);")
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("wrap_add_to(a@private, b@private);") - list(STATEMENTS).index("a += b;")
    for number, (source, wanted) in enumerate(STATEMENTS.items()):
        assert wanted in lines[at:], f"{source}: wanted {wanted}\n" + "\n".join(lines[at + number : at + number + 3])


def test_a_switch_leaves_declarations_without_their_values() -> None:
    text = lowered("switch (a) { case 1: { int w = 3; b = w; } default: ; int q = 4; b = q; }")
    assert "int q; = 4;" in text and "int w; = 3;" in text


def test_helpers_say_what_they_need() -> None:
    helpers = (
        "static int plain(int x) { return x & 1; } static int checked(int x, int y) { return x / y; } "
        "static int through(int x) { return checked(x, 2) + plain(x); } "
        "static int deep(int n) { return n > 0 ? deep(n - 1) : 0; }")
    text = lowered("a = plain(b) + through(b) + deep(b);", helpers=helpers)
    heads = {line.split("(")[0]: line.partition("//")[2].strip() for line in text.splitlines() if line.startswith("int ")}
    assert heads == {"int plain": "", "int checked": "context", "int through": "context", "int deep": "context, recursive"}


def test_a_search_looks_ahead() -> None:
    text = lowered("for (a = 0; a < 64; a++) if (table[a] == b) break;")
    assert "search_ahead(a@private < 64: hd_i < 64; table@constant[hd_i]; !(hd_e == b@private));" in text


def test_guards_are_nodes() -> None:
    text = device_text(analyse(mapper(f"int x; if (n > 3) x = 1; v = x; {END_PLAIN}"))[0])
    assert all(part in text for part in ("int x {guarded};", "written(x: x+0) = 1;", "v@private = checked(x: x+0);"))


def test_a_record_begins_with_what_was_before_the_loop() -> None:
    text = device_text(analyse(mapper(
        f"strncpy(year, line, 4); v = base + atoi(year); {END_PLAIN}",
        before='int base = atoi("3"); char year[5] = "";'))[0])
    assert all(part in text for part in ("fresh char year@private[5];", "year@private = \"\";", "base@parameter")), text


def test_a_combiners_flush_comes_behind_its_loop() -> None:
    text = device_text(analyse(combiner(
        'if (strcmp(word, prev) != 0) { if (count > 0) printf("%s\\t%d\\n", prev, count); strcpy(prev, word); count = 0; }\n'
        "count += val;", before='char word[32], prev[32] = ""; int val, count = 0;',
        flush='if (count > 0) printf("%s\\t%d\\n", prev, count);'))[0])
    assert "wrap_add_to(count@private, val@private);" in text and text.count("print(str(") == 2


# C statement -> what is left of it
LEFT = {
    "v = tgamma(n);": "unsupported(HD232, \"tgamma() may give other bits on a GPU",
    "if (n > 5) goto out;": "unsupported(HD216, \"goto out jumps into a block or loop: put the label behind it",
    "break;": "unsupported(HD212,", "exit(0);": "unsupported(HD214, \"exit() with a status",
    "char w[n]; void *q = &w;": "unsupported(HD218,", 'printf("%n", &v);': "unsupported(HD229, \"%n stores",
    "v = n > 3 && ((int[]){1, 2})[n & 1];": "unsupported(HD239, \"an unnamed array",
    "n > 9 ? perror(\"long\") : (void)0;": "unsupported(HD232, \"perror() has no device form",
    "const void *q = line; q += 1;": "unsupported(HD239, \"'+=' of a void pointer",
}


@pytest.mark.parametrize("source", LEFT)
def test_what_has_no_rule_is_left_over_with_its_place(source: str) -> None:
    label = "if (v) { out: v = 1; }" if "goto" in source else ""
    text = mapper(f"v = 0;\n{source}\n{END_PLAIN} {label}", helpers="double tgamma(double); void perror(const char *);")
    analysis = analyse(text)[0]
    assert LEFT[source] in device_text(analysis)
    found = [node for node in analysis.facts.device.unsupported() if isinstance(node, nodes.Unsupported)]
    line = LINES + text.split("\n").index(source) + 1
    assert any(node.span.line == line and node.span.col for node in found)
    assert {(n.code, n.message) for n in found} <= {(r.code, r.message) for r in analysis.refusals}


def test_reasons_inside_of_what_has_no_form_are_found_too() -> None:
    text = mapper(f"v = (int)tgamma((unsigned __int128)n > 1);\n{END_PLAIN}", helpers="double tgamma(double);")
    assert {"HD232", "HD237"} <= {node.code for node in analyse(text)[0].facts.device.unsupported()}


def test_a_reason_shows_its_place_with_a_caret(tmp_path: Path) -> None:
    """What the bundle's manifest has is enough: the source is not read again."""
    source = tmp_path / "map.c"
    source.write_text(
        "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        + mapper(f"v = (int)tgamma(n);\n{END_PLAIN}"), encoding="utf-8")
    made = analyse_app(BuildOptions.make([str(source)])).manifest
    source.unlink()
    line = source_line(made.programs[0].gpu_refusals[0].place)
    wanted = [f"  {line} | v = (int)tgamma(n);", f"  {' ' * len(str(line))} |          ^~~~~~"]
    for text in (explain.explain_text(made), summary(tmp_path / "app.hdp", made)):
        lines = [row.rstrip() for row in text.splitlines()]
        at = next(number for number, row in enumerate(lines) if "tgamma() may give other bits" in row)
        assert [row.strip() for row in lines[at + 1 : at + 3]] == [row.strip() for row in wanted]
        assert lines[at + 1].index("|") == lines[at + 2].index("|")


def source_line(place: str) -> int:
    return int(place.split(":")[-2])
