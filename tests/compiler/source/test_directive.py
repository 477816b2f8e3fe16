"""The directive parser alone: text in, clauses and places out; no text can make it fail in another way than told."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from heterodoop.compiler.source.clauses import BY_NAME, CLAUSES, KINDS
from heterodoop.compiler.source.directive import Directive, close_match, parse_directive, unexpanded, with_expanded
from heterodoop.compiler.source.logical import pragma_text, scan, unplaced
from heterodoop.diag import Sink
from heterodoop.hdcodes import CODES
from heterodoop.source import SourceFile, Span

PLACE = Span("m.c", 1, 1, 8)


def parse(text: str) -> tuple[Directive | None, Sink]:
    sink = Sink()
    source = SourceFile("m.c", f"#pragma {text}")
    chars, span = pragma_text(source, 1, text, 0)
    return parse_directive(chars, span, sink), sink


def arguments(directive: Directive | None, clause: str) -> list[str]:
    assert directive is not None
    found = directive.clause(clause)
    assert found is not None
    return [a.text for a in found.args]


@pytest.mark.parametrize(
    "text",
    [
        "mapreduce mapper key(k) value(v)", "mapreduce  mapper\tkey ( k )value(v)", "mapreduce key(k) value(v) mapper",
        "mapreduce mapper, key(k), value(v)", "mapreduce mapper key(k)\\\n  value(v)",
        "mapreduce mapper key(k) /* x\ny */ value(v)",
        "mapreduce mapper key(/* the key */ k) value(v) // done", "mapreduce \\\nmapper \\\nkey(\\\nk) value(v)",
        "mapreduce mapper key(k) value(v) /* unclosed", "mapreduce mapper key(k) value(v) \\",
    ],
)
def test_spellings_that_mean_the_same(text: str) -> None:
    directive, sink = parse(text)
    assert sink.diagnostics == []
    assert directive is not None and directive.kind == "mapper"
    assert arguments(directive, "key") == ["k"] and arguments(directive, "value") == ["v"]


@pytest.mark.parametrize(
    "line",
    [
        "#pragma mapreduce mapper key(k)", "  #\tpragma\t mapreduce mapper key(k)", "%:pragma mapreduce mapper key(k)",
        '_Pragma("mapreduce mapper key(k)")', 'x = 1; _Pragma ( L"mapreduce mapper key(k)" ) while (1)',
        "*/ #pragma mapreduce mapper key(k)",
    ],
)
def test_places_in_every_way_to_write_a_pragma(line: str) -> None:
    text, span = pragma_text(SourceFile("m.c", f"\n{line}\n"), 2, "mapreduce mapper key(k)", 0)
    directive = parse_directive(text, span, Sink())
    assert directive is not None
    clause = directive.clause("key")
    assert clause is not None
    assert clause.span == Span("m.c", 2, line.index("key") + 1, line.index("key") + 4)
    assert clause.args[0].span.col == line.index("key(k") + 5
    assert line[span.col - 1 : span.end - 1] in ("#pragma", "_Pragma", "%:pragma") or span.col == line.index("#") + 1


def test_second_operator_pragma_of_a_line() -> None:
    line = '_Pragma("mapreduce combiner key(a)") _Pragma("mapreduce combiner key(b)")'
    text, _ = pragma_text(SourceFile("m.c", line), 1, "", 1)
    assert text.chars == "mapreduce combiner key(b)" and text.places[0] == (1, 47)


def test_macro_made_pragma_has_only_its_line() -> None:
    text, span = pragma_text(SourceFile("m.c", "MAPPER(k)"), 1, "mapreduce mapper key(k)", 0)
    assert span == Span("m.c", 1) and text.span(17, 20) == Span("m.c", 1)


def test_columns_on_continuation_lines_with_tabs() -> None:
    lines = ["int x;", "#pragma mapreduce mapper \\", "\tkey(word) \\", "\t\tkeylength(1 + \\", " 2)", "while"]
    source = SourceFile("m.c", "\r\n".join(lines))
    text, span = pragma_text(source, 2, "", 0)
    directive = parse_directive(text, span, Sink())
    assert directive is not None
    key, length = directive.clauses
    assert key.span == Span("m.c", 3, 2, 5) and key.args[0].span == Span("m.c", 3, 6, 10)
    assert length.span == Span("m.c", 4, 3, 12) and length.args[0].text == "1 +  2"


def test_strings_hide_comments_and_escapes() -> None:
    assert scan(SourceFile("m.c", r'a "/* \" // " b // c'), 1).chars == r'a "/* \" // " b '


def test_unclosed_comment_ends_with_the_file() -> None:
    assert scan(SourceFile("m.c", "a /* b\nc\n"), 1).chars == "a  "


def test_constants_with_names_are_expanded_and_others_stand() -> None:
    directive, _ = parse("mapreduce mapper key(k) keylength(KLEN) kvpairs((1 + 2) * 3)")
    assert directive is not None
    assert unexpanded(directive) == {(1, 0): "KLEN"}
    expanded = with_expanded(directive, {(1, 0): "24"})
    assert [[a.expanded for a in c.args] for c in expanded.clauses] == [[""], ["24"], ["(1 + 2) * 3"]]


def test_nested_brackets_and_commas_in_a_constant() -> None:
    directive, sink = parse("mapreduce mapper key(k) keylength(MAX(3, (4)))")
    assert not sink.errors and arguments(directive, "keylength") == ["MAX(3, (4))"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("keylenght", "keylength"), ("Key", "key"), ("sharedro", "sharedRO"), ("vallen", "vallength"),
        ("first_private", "firstprivate"),
     ("textures", "texture"), ("block", "blocks"), ("thread", "threads"), ("zzz", ""), ("kvpair", "kvpairs"),
    ],
)
def test_did_you_mean(word: str, meant: str) -> None:
    assert close_match(word, BY_NAME) == meant
    if word not in BY_NAME:
        _, sink = parse(f"mapreduce mapper key(k) {word}(x)")
        assert [d.code for d in sink.errors] == ["HD103"]
        assert f"'{meant}'" in sink.errors[0].help if meant else "clauses are key" in sink.errors[0].help


def test_all_errors_of_a_directive_at_once() -> None:
    _, sink = parse("mapreduce combiner keylenght(3) value() keyin(a) keyin(b) kvpairs(2) {")
    assert sorted(d.code for d in sink.errors) == ["HD103", "HD104", "HD105", "HD106", "HD107", "HD108"]


def test_a_misspelt_required_clause_is_not_also_missing() -> None:
    _, sink = parse("mapreduce mapper kye(k)")
    assert [d.code for d in sink.errors] == ["HD103"]


WORDS = st.sampled_from(
    [
        "mapreduce", *KINDS, *(r.name for r in CLAUSES), "reducer", "(", ")", ",", "k", "3", "{", "}", "\\\n", "/*",
        "*/", "//", '"', "'",
     "\t", "#", "key(k)", "keylength(KLEN)", "\r\n", "é", "\0", "\\",
    ],
)


@settings(max_examples=400)
@given(st.lists(WORDS, max_size=25).map(" ".join) | st.lists(WORDS, max_size=25).map("".join) | st.text(max_size=60))
@example("mapper key(")
@example("{")
@example('_Pragma("mapreduce')
def test_any_text_gives_a_directive_or_placed_errors(tail: str) -> None:
    sink = Sink()
    source = SourceFile("m.c", f"#pragma mapreduce {tail}")
    text, span = pragma_text(source, 1, "mapreduce", 0)
    directive = parse_directive(text, span, sink)
    assert bool(sink.errors) or (directive is not None and not directive.broken)
    for diagnostic in sink.diagnostics:
        assert diagnostic.code in CODES and diagnostic.span is not None
        lines = source.text.replace("\r\n", "\n").split("\n")
        line = lines[diagnostic.span.line - 1]
        assert 1 <= diagnostic.span.line <= len(lines) and 1 <= diagnostic.span.col <= len(line) + 1
    if directive is not None:
        for clause in directive.clauses:
            line = source.line(clause.span.line)
            assert line[clause.span.col - 1 :].startswith(re.split(r"\\\n", clause.name)[0][:1])
            assert all(a.text for a in clause.args)
            assert sink.errors or directive.kind in BY_NAME[clause.name].legal


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_text_without_places_never_fails_otherwise(text: str) -> None:
    sink = Sink()
    parse_directive(unplaced("m.c", 3, f"mapreduce {text}"), Span("m.c", 3), sink)
    assert all(d.span == Span("m.c", 3) for d in sink.diagnostics)
