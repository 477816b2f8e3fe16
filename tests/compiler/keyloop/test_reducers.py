"""Reducers as key loops: found without a directive, whatever they print; and what is none, with the statement."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from heterodoop import manifest
from heterodoop.compiler import reducers
from heterodoop.compiler.keyloop.loop_text import loop_text
from heterodoop.compiler.keyloop.reducer import NoLoop, Reducer
from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import load
from heterodoop.compiler.source.preprocess import CcRuns
from heterodoop.compiler.steps import Times
from heterodoop.diag import Sink
from heterodoop.toolchain.cc import CcOptions

from ..regions import PRELUDE, preprocessed


@cache
def analyse(source: str) -> reducers.ReducerAnalysis:
    """A reducer, complete but for library declarations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reduce.c"
        path.write_text(PRELUDE + source)
        text = PRELUDE.replace("\n#define NULL ((void *)0)", "\n") + source
        unit = load(path, CcOptions(), CcRuns.given(str(path), preprocessed(text)))
        sink = Sink()
        bound = bind(unit, sink, "reduce")
        assert not sink.errors, sink.errors
        return reducers.analyse(unit, bound[0] if bound else None, Times())


def reducer(first: str, same: str, emit: str, *, before: str = "", after: str = "", helpers: str = "", scan: str = "%31s %d",
            more: str = "", pragma: str = "") -> str:
    """By strcmp, the first key by an empty text. A line for each part."""
    return (
        f'{helpers}\nint main(void) {{ char word[32], prev[32] = ""; int v, w, lo = 0; long s = 0, n = 0; double x, d = 0;\n'
        f'{before}\n{pragma}\nwhile (scanf("{scan}", word, {"&x" if "lf" in scan else "&v"}{more}) == {3 if more else 2})\n'
        f"if (strcmp(word, prev) == 0) {{ {same} }} else {{\nif (prev[0]) {{ {emit} }}\nstrcpy(prev, word);\n{first} }}\n"
        f"if (prev[0]) {{ {emit} }}\n{after}\nreturn 0; }}\n"
    )


MEAN = 'printf("%s\\t%.1f\\n", prev, (double)s / n);'
LINE = 'printf("%s\\t%ld\\n", prev, s);'
SUM = ("s = v;", "s += v;")
BOTH = ("s = v; n = 1;", "s += v; n++;")

LOOPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "a mean": (reducer(*BOTH, MEAN), "sum count", ('print KEY "\\t" %.1f:((double)s / (double)n) "\\n"',)),
    "only above a threshold": (
        reducer(*SUM, 'if (s > 9) printf("%s\\t%ld\\n", prev, s);'), "sum", ('print KEY "\\t" %ld:s "\\n" if (s > 9)',)),
    "several lines": (
        reducer(*BOTH, 'printf("%s\\n", prev); printf("sum %5ld\\n", s); if (n > 1) puts("many");'), "sum count",
        ('print KEY "\\nsum " %5ld:s "\\nmany\\n" if (n > 1)', 'print KEY "\\nsum " %5ld:s "\\n"')),
    "no key": (reducer(*SUM, 'printf("%lx", s);'), "sum", ("print %lx:(unsigned long)s",)),
    "only the key": (reducer("", "", 'printf("%s\\n", prev);'), "", ('print KEY "\\n"',)),
    "a column": (reducer(*SUM, 'printf("%-12s|%.3s|%9.s\\n", prev, prev, prev);'), "",
                 ('print %-12s:KEY "|" %.3s:KEY "|" %9.s:KEY "\\n"',)),
    "nothing": (reducer(*SUM, ""), "", ("print nothing",)),
    "the key behind the number": (reducer(*SUM, 'printf("%08.3f|%s;", s / 3.0, prev);'), "sum",
                                  ('print %08.3f:((double)s / 3.0) "|" KEY ";"',)),
    "a header and a trailer": (
        reducer(*SUM, LINE, before='printf("key\\tsum\\n"); puts("---");', after='puts("end");'),
        "sum", ('print "key\\tsum\\n---\\n" before all', 'print KEY "\\t" %ld:s "\\n"', 'print "end\\n" behind all')),
    "a sum of doubles": (reducer("d = x;", "d += x;", 'printf("%s\\t%g\\n", prev, d);', scan="%31s %lf"), "ordered",
                         ("double d = v0, then (d + v0)",)),
    "the last": (reducer("s = v;", "s = v;", 'printf("%s\\t%ld\\n", prev, s);'), "ordered", ("then (long)v0",)),
    "the least of differences": (
        reducer("lo = v - w;", "if (v - w < lo) lo = v - w;", 'printf("%s\\t%d\\n", prev, lo);', scan="%31s %d,%d",
                more=", &w"),
        "min", ('value int "," int', "int lo = (v0 - v1)")),
    "a directive of a combiner": (
        reducer(*BOTH, MEAN, pragma="#pragma mapreduce combiner key(prev) value(s) keyin(word) valuein(v)"), "sum count",
        ("long s = (long)v0",)),
    "a helper that prints": (
        reducer(*BOTH, "put(prev, s, n);",
                helpers='static void put(const char *k, long a, long b) { printf("%s %.2e\\n", k, 1.0 * a / b); }'),
        "sum count", ('print KEY " " %.2e:',)),
    "lines, the last error by return": (
        'int main(void) { char *line = NULL, *tab, prev[32] = ""; size_t cap = 0; long s = 0;\n'
        "while (getline(&line, &cap, stdin) != -1) {\n"
        "tab = strchr(line, '\\t'); if (!tab || tab - line > 31) return 3; *tab = 0;\n"
        'if (strcmp(line, prev)) { if (prev[0]) printf("%s\\t%ld\\n", prev, s); strcpy(prev, line); s = 0; }\n'
        's += atol(tab + 1); }\nif (prev[0]) printf("%s\\t%ld\\n", prev, s);\nreturn 0; }\n', "sum", ("long s = v0",)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_reducer_is_a_key_loop(name: str) -> None:
    source, operations, wanted = LOOPS[name]
    analysis = analyse(source)
    assert isinstance(analysis.found, Reducer), analysis.found
    text = loop_text(analysis.found.loop)
    assert [part for part in wanted if part not in text] == [], text
    described = analysis.described
    assert described is not None and analysis.refusal is None
    assert " ".join(kept.op or "ordered" for kept in described.kept) == operations
    assert described.loop == ("ordered" if operations == "ordered" else "fold")


PLACES: dict[str, tuple[str, tuple[int, ...]]] = {
    "as it is read": ("lines, the last error by return", (0,)),
    "in a wider type": ("no key", (-1,)),
    "a count": ("a mean", (-1, -1)),
    "of two numbers": ("the least of differences", (-1,)),
    "a sum of doubles": ("a sum of doubles", (0,)),
}


@pytest.mark.parametrize("name", PLACES)
def test_which_number_of_a_value_is_kept(name: str) -> None:
    """What was combined further is the same to a reducer only where it keeps what it reads."""
    of, places = PLACES[name]
    described = analyse(LOOPS[of][0]).described
    assert described is not None and tuple(kept.place for kept in described.kept) == places


OTHERS: dict[str, tuple[str, str, str]] = {
    "each pair is printed": (reducer(*SUM, 'printf("%s\\n", prev);').replace("s += v;", "printf(\"%d\\n\", v);"),
                             "it prints before the key changes", ""),
    "a counter": (reducer(*SUM, 'fprintf(stderr, "reporter:counter:a,b,1\\n"); printf("%s\\n", prev);'), "is not understood",
                  "fprintf"),
    "a total over all keys": (
        reducer("s = v; n += v;", "s += v; n += v;", 'printf("%s\\t%ld %ld\\n", prev, s, n);'), "'n' does not begin", ""),
    "the last key is printed otherwise": (
        reducer(*SUM, LINE).replace("\\n\", prev, s); }\n\nreturn", "!\", prev, s); }\n\nreturn"),
        "what it prints of the last key", ""),
    "a trailer where there are keys": (
        reducer(*SUM, 'printf("%s\\n", prev);', after='if (prev[0]) puts("end");'), "what it prints of the last key", ""),
    "an integer division that may trap": (
        reducer("lo = v;", "lo += v;", 'printf("%s\\t%d\\n", prev, 100 / lo);'), "is not understood", "printf"),
    "the process may end at a value": (
        reducer("if (v < 0) exit(1); s = v;", "s += v;", 'printf("%s\\t%ld\\n", prev, s);'), "it may end the process", ""),
    "a setting ends it before": (
        reducer(*SUM, 'printf("%s\\n", prev);', before='if (getenv("stop")) return 1;'), "may end the process", "getenv"),
    "it says something before": (
        reducer(*SUM, 'printf("%s\\n", prev);', before='fprintf(stderr, "reporter:status:on\\n");'), "prints", "fprintf"),
    "it ends with a failure": (
        reducer(*SUM, 'printf("%s\\n", prev);').replace("return 0;", "return 7;"), "is not understood", ""),
    "no loop": ('int main(void) { printf("%d\\n", getchar()); return 0; }', "has no loop", ""),
    "an odd conversion": (reducer(*SUM, 'printf("%c\\n", prev[1]);'), "what it prints of a key", "printf"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_key_loop_says_why_and_where(name: str) -> None:
    source, why, statement = OTHERS[name]
    analysis = analyse(source)
    assert isinstance(analysis.found, NoLoop), loop_text(analysis.found.loop)
    refusal = analysis.refusal
    assert refusal is not None and refusal.code == "HD267" and why in refusal.message, refusal
    assert analysis.described is None
    if statement:
        line = (PRELUDE + source).split("\n")[refusal.span.line - 1]
        assert statement in line and line[refusal.span.col - 1 :].split("(")[0].strip() in line, (refusal, line)


TWO = "int main(void) {{ char *line = NULL, *at, name[32]; size_t size = 0; long n, m, a = 0, b = 0; name[0] = 0;\n" \
    "while (getline(&line, &size, stdin) != -1) {{ at = strchr(line, '\\t');\n" \
    "if (!at || at - line >= 32) exit(1); *at = 0;\n" \
    "n = strtol(at + 1, &at, 10); {between} m = strtol(at, &at, 10);\n" \
    'if (strcmp(line, name) == 0) {{ a += n; b += m; }} else {{ if (name[0]) printf("%s\\t%ld\\t%ld\\n", name, a, b);\n' \
    'strcpy(name, line); a = n; b = m; }} }}\nif (name[0]) printf("%s\\t%ld\\t%ld\\n", name, a, b); return 0; }}\n'


def printing(value: str) -> manifest.Region:
    """What is asked of a program before a reducer."""
    return SimpleNamespace(emissions=(SimpleNamespace(value=value),))  # type: ignore[return-value]


def test_texts_of_values_stay_out_of_the_manifest_s_reader() -> None:
    source = reducer("s = v;", "s += v;", 'printf("%s\\t%ld\\n", prev, s);', scan="%31s %d %9s", more=", text").replace(
        "int v,", "char text[10]; int v,")
    found = reducers.behind(analyse(source), printing("%d %s"))
    assert isinstance(found.found, Reducer) and found.found.loop.reads.between == (b" ",)
    described = found.described
    assert described is not None and described.pairs == manifest.PairReader("token", 31, ())


@pytest.mark.parametrize(("between", "printed", "read"), [
    ("", "%.17g 1", (" ",)), ("", "%ld\t%ld", ("\t",)), ("", "%ld", ("\t",)), ("", "%ld,%ld", ("\t",)),
    ("at++;", "%ld,%5d", (",",)),
])
def test_between_numbers_stands_what_the_program_before_it_prints_where_that_is_read(
    between: str, printed: str, read: tuple[str, ...],
) -> None:
    """White space is left out by strtol, whichever; the reducer's own output is no more than a guess."""
    before = printing(printed)
    found = reducers.behind(analyse(TWO.format(between=between)), before)
    assert isinstance(found.found, Reducer), found.found
    assert found.found.pairs.between == read
    assert found.found.loop.reads.between == tuple(text.encode() for text in read)
