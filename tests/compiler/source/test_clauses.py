"""Every clause of the paper's Table 1: legal use, missing, duplicate, wrong place, wrong kind of argument, wrong type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heterodoop.compiler.lower.bind import BoundRegion, bind
from heterodoop.compiler.source.clauses import CLAUSES, KINDS, ClauseRule, Kind
from heterodoop.compiler.source.frontend import load
from heterodoop.diag import Diagnostic, Sink
from heterodoop.errors import UserError
from heterodoop.toolchain.cc import CcOptions

TABLE_1 = [
    "key", "value", "keyin", "valuein", "keylength", "vallength", "firstprivate", "sharedRO", "texture", "kvpairs",
    "blocks", "threads",
]
BASE: dict[Kind, dict[str, str]] = {
    "mapper": {"key": "word", "value": "one"},
    "combiner": {"key": "word", "value": "one", "keyin": "other", "valuein": "n"},
}
LEGAL = {
    "key": "word", "value": "one", "keyin": "other", "valuein": "n", "keylength": "30", "vallength": "1",
    "firstprivate": "a, table",
    "sharedRO": "b, table", "texture": "table", "kvpairs": "4", "blocks": "65535", "threads": "1024",
}
WRONG = {
    "empty": ("", "HD106"), "expression": ("a + 1", "HD106"), "function": ("helper", "HD112"),
    "type": ("number", "HD112"),
    "undeclared": ("nowhere", "HD111"), "two": ("a, b", "HD106"),
}
PROGRAM = """
struct rec {{ int a; }};
struct linked {{ struct linked *next; }};
struct deep {{ char name[12]; struct rec inner[2]; double sum; }};
typedef int number;
enum {{ FIVE = 5 }};
static int helper(int x) {{ return x; }}
int main(void) {{
  char word[30] = "", other[30] = "", *pointer = word, **deep = &pointer;
  int one = 1, n = 0, a = 1, b = 2, table[10] = {{0}};
  struct rec record = {{0}};
  struct linked linked = {{0}};
  struct deep nested = {{0}};
  union {{ int i; float f; }} either = {{0}};
  (void)linked, (void)nested, (void)either;
  #pragma mapreduce {directive}
  while (n < 3) n += helper(a) + b + table[0] + record.a + (deep == 0) + (other[0] + one + FIVE + (number)0 > 99);
  return 0;
}}
"""


def compile_text(tmp_path: Path, directive: str) -> tuple[list[BoundRegion], list[Diagnostic]]:
    path = tmp_path / "p.c"
    path.write_text(PROGRAM.format(directive=directive))
    sink = Sink()
    try:
        regions = bind(load(path, CcOptions()), sink)
    except UserError as error:
        return [], list(error.diagnostics)
    return regions, sink.diagnostics


def text(kind: Kind, **changes: str | None) -> str:
    clauses = {**BASE[kind], **changes}
    return f"{kind} " + " ".join(f"{name}({value})" for name, value in clauses.items() if value is not None)


def codes(diagnostics: list[Diagnostic]) -> list[str]:
    return [d.code for d in diagnostics]


def home(rule: ClauseRule) -> Kind:
    return rule.legal[-1]


def test_the_table_is_the_papers() -> None:
    assert [rule.name for rule in CLAUSES] == TABLE_1
    assert KINDS == ("mapper", "combiner")
    assert all(rule.doc.endswith(".") and set(rule.required) <= set(rule.legal) for rule in CLAUSES)


@pytest.mark.parametrize("rule", CLAUSES, ids=lambda r: r.name)
def test_legal_use(rule: ClauseRule, tmp_path: Path) -> None:
    for kind in rule.legal:
        regions, found = compile_text(tmp_path, text(kind, **{rule.name: LEGAL[rule.name]}))
        assert found == []
        value = getattr(regions[0], rule.name)
        if rule.argument == "constant":
            assert value == int(LEGAL[rule.name])
        else:
            assert value == (tuple(LEGAL[rule.name].split(", ")) if rule.many else LEGAL[rule.name])


@pytest.mark.parametrize("rule", CLAUSES, ids=lambda r: r.name)
def test_missing(rule: ClauseRule, tmp_path: Path) -> None:
    """Required ones are asked for; without the others the program is right, and the value is empty or derived."""
    kind = home(rule)
    regions, found = compile_text(tmp_path, text(kind, **{rule.name: None}))
    if rule.required or rule.name == "valuein":  # this loop reads nothing that shows it
        assert codes(found) == ["HD104"] and f"'{rule.name}'" in found[0].message
    else:
        left_out: dict[str, object] = {"keylength": 30, "vallength": 1, "value": "", "kvpairs": 0, "blocks": 0, "threads": 0}
        assert found == [] and getattr(regions[0], rule.name) == left_out.get(rule.name, ())


@pytest.mark.parametrize("rule", CLAUSES, ids=lambda r: r.name)
def test_duplicate(rule: ClauseRule, tmp_path: Path) -> None:
    kind = home(rule)
    once = f"{rule.name}({LEGAL[rule.name]})"
    _, found = compile_text(tmp_path, f"{text(kind, **{rule.name: None})} {once} {once}")
    assert codes(found) == ["HD105"] and rule.name in found[0].message and found[0].notes


@pytest.mark.parametrize("rule", [r for r in CLAUSES if len(r.legal) == 1], ids=lambda r: r.name)
def test_wrong_place(rule: ClauseRule, tmp_path: Path) -> None:
    wrong = next(kind for kind in KINDS if kind not in rule.legal)
    _, found = compile_text(tmp_path, text(wrong, **{rule.name: LEGAL[rule.name]}))
    assert codes(found) == ["HD107"] and re.search(f"'{rule.name}' belongs on a {rule.legal[0]}", found[0].message)


@pytest.mark.parametrize("rule", CLAUSES, ids=lambda r: r.name)
@pytest.mark.parametrize("wrong", list(WRONG))
def test_wrong_kind_of_argument(rule: ClauseRule, wrong: str, tmp_path: Path) -> None:
    constant = rule.argument == "constant"
    argument, expected = WRONG[wrong]
    if constant and wrong not in ("empty", "two"):
        expected = "HD114"
    if rule.many and wrong == "two":
        argument, expected = "table, nowhere", "HD111"
    _, found = compile_text(tmp_path, text(home(rule), **{rule.name: argument}))
    assert codes(found) == [expected] and found[0].span is not None and found[0].span.line == 16


@pytest.mark.parametrize(
    ("clause", "argument", "code"),
    [
        ("key", "linked", "HD120"), ("key", "deep", "HD120"), ("value", "either", "HD120"), ("keyin", "deep", "HD120"),
        ("valuein", "linked", "HD120"), ("texture", "one", "HD120"), ("texture", "record", "HD120"),
        ("texture", "deep", "HD120"),
        ("keylength", "1.5", "HD114"), ("keylength", '"abc"', "HD114"), ("vallength", "one", "HD114"),
        ("kvpairs", "a", "HD114"),
        ("blocks", "-1", "HD115"), ("threads", "0", "HD115"), ("threads", "1025", "HD115"), ("kvpairs", "0", "HD115"),
        ("keylength", "0", "HD115"), ("vallength", "-2", "HD115"), ("keylength", "1 << 25", "HD115"),
        ("blocks", "1LL << 31", "HD115"),
        ("firstprivate", "helper", "HD112"), ("sharedRO", "FIVE", "HD112"),
    ],
)
def test_wrong_type(clause: str, argument: str, code: str, tmp_path: Path) -> None:
    rule = next(r for r in CLAUSES if r.name == clause)
    _, found = compile_text(tmp_path, text(home(rule), **{clause: argument}))
    assert codes(found) == [code] and f"'{clause}'" in found[0].message


@pytest.mark.parametrize(
    ("clause", "argument"),
    [
        ("sharedRO", "record"), ("firstprivate", "record, pointer"), ("texture", "pointer"), ("key", "record"),
        ("key", "nested"), ("value", "record"), ("value", "nested"),
    ],
)
def test_types_that_are_right(clause: str, argument: str, tmp_path: Path) -> None:
    regions, found = compile_text(tmp_path, text("mapper", **{clause: argument}))
    assert found == [] and len(regions) == 1


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("sizeof(word)", 30), ("sizeof word", 30), ("FIVE * 6", 30), ("(int)30.9", 30),
        ("sizeof(struct rec) + 26", 30), ("0x1e", 30),
     ("sizeof(number) * 8 - 2", 30), ("'\\x1e'", 30), ("1 ? 30 : 0", 30), ("__CHAR_BIT__ * 4 - 2", 30),
    ],
)
def test_constant_expressions(expression: str, value: int, tmp_path: Path) -> None:
    regions, found = compile_text(tmp_path, text("mapper", keylength=expression))
    assert found == [] and regions[0].keylength == value


def test_the_length_of_a_struct_is_that_of_its_fields_together(tmp_path: Path) -> None:
    regions, found = compile_text(tmp_path, text("mapper", key="nested", value="record"))
    assert found == [] and (regions[0].keylength, regions[0].vallength) == (12 + 2 + 1, 1)


COMBINER = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {{
  char word[30] = "", line[99], *end; struct {{ int n; double x; }} pair = {{0}}; int n = 0; long total = 0;
  #pragma mapreduce combiner key(word) value(total) keyin(word)
  while ({cond}) {{ {body} total += n + pair.n; printf("%s\\t%ld\\n", word, total); }}
  return end == 0;
}}
"""
LINES = "fgets(line, 99, stdin) != NULL"


@pytest.mark.parametrize(
    ("cond", "body", "name"),
    [
        ('scanf("%29s %d", word, &n) == 2', "", "n"), ('fscanf(stdin, "%29s %d", word, &pair.n) == 2', "", "pair"),
        ('scanf("%29s %d %lf", word, &n, &pair.x) == 3', "", "pair"), (LINES, 'sscanf(line, "%29s %d", word, &n);', "n"),
        (LINES, "n = (int)strtol(line + 3, &end, 10);", "n"), (LINES, "pair.n = atoi(line);", "pair"),
        (LINES, "int own = atoi(line); n += own;", ""),
    ],
)
def test_valuein_is_what_the_loop_shows(cond: str, body: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "c.c"
    path.write_text(COMBINER.format(cond=cond, body=body))
    sink = Sink()
    (region,) = bind(load(path, CcOptions()), sink)
    assert region.valuein == name and not sink.errors


def test_valuein_that_nothing_shows_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "c.c"
    path.write_text(COMBINER.format(cond=LINES, body="n = line[0] - '0';"))
    sink = Sink()
    assert bind(load(path, CcOptions()), sink) == []
    assert codes(sink.errors) == ["HD104"] and "does not show" in sink.errors[0].message


def test_a_clause_that_is_wrong_hides_no_other_error(tmp_path: Path) -> None:
    clauses = "kye(word) zzz(a) value(nowhere) keylength(a) blocks() threads(2000) sharedRO(b, 3)"
    _, found = compile_text(tmp_path, f"mapper {clauses}")
    assert sorted(codes(found)) == ["HD103", "HD103", "HD106", "HD106", "HD111", "HD114", "HD115"]


IN_THE_LOOP = """#include <stdio.h>
int main(void) {{
  char line[99], word[30];
#pragma mapreduce mapper {clauses}
  for (int first = 1; fgets(line, sizeof line, stdin); first = 0) {{
    char key[20];
    int value = first, count = 0;
    static int calls;
    {{ long count = 3; calls += (int)count; }}
    {{ char key[20]; key[0] = line[1]; value += key[0]; }}
    key[0] = line[0]; key[1] = 0; word[0] = 0;
    printf("%s\\t%d\\n", key, value + count);
  }}
  return 0;
}}
"""


@pytest.mark.parametrize(("clauses", "code", "said"), [
    ("key(key) value(value)", "", ""), ("key(word) value(first)", "", ""),
    ("key(key) value(count)", "HD111", "'count' in 'value' is declared in the loop with two types"),
    ("key(key) value(calls)", "HD111", "'calls' in 'value' is not declared here"),
    ("key(word) value(value) firstprivate(value)", "HD111", "'value' in 'firstprivate' is not declared here"),
])
def test_the_key_and_the_value_may_be_the_loop_s_own(clauses: str, code: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "map.c"
    path.write_text(IN_THE_LOOP.format(clauses=clauses))
    sink = Sink()
    found = bind(load(path, CcOptions()), sink)
    assert codes(sink.errors) == ([code] if code else []) and said in "".join(e.message for e in sink.errors)
    if not code:
        assert (found[0].key, found[0].keylength) in (("key", 20), ("word", 30))


def test_a_combiner_keeps_its_key_from_pair_to_pair(tmp_path: Path) -> None:
    path = tmp_path / "combine.c"
    text = COMBINER.format(cond='scanf("%29s %d", word, &n) == 2', body="char other[30]; other[0] = 0;")
    for clause, errors in (("keyin", []), ("key", ["HD111"])):
        path.write_text(text.replace(f" {clause}(word)", f" {clause}(other)"))
        sink = Sink()
        bind(load(path, CcOptions()), sink)
        assert codes(sink.errors) == errors and all("from record to record" in str(error.help) for error in sink.errors)


def test_a_misspelt_clause_is_not_also_missing(tmp_path: Path) -> None:
    _, found = compile_text(tmp_path, "mapper key(pointer) keylenght(30)")
    assert codes(found) == ["HD103"]
