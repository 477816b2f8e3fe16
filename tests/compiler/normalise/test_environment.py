"""getenv in the record loop: which calls become variables from outside it, and what the passes behind make of them."""

from __future__ import annotations

import pytest

from heterodoop.compiler import kernels, passes
from heterodoop.compiler.emit import prologue
from heterodoop.compiler.ir import ir
from heterodoop.compiler.ir import walk as ir_walk
from heterodoop.compiler.ir.call_graph import reached
from heterodoop.compiler.ir.read import read_ir
from heterodoop.compiler.ir.text import print_ir

from ..regions import analyse, codes, combiner, mapper

EMIT = 'printf("%s\\t%d\\n", k, v);'
LAST = " strcpy(k, line);" + EMIT
SAFE = "char *secure_getenv(const char *);"
SUM = """if (strcmp(word, prev) == 0) { count += val; }
  else { if (prev[0]) printf("%s\\t%d\\n", prev, count); strcpy(prev, word); count = val; }"""
FLUSH = 'if (prev[0]) printf("%s\\t%d\\n", prev, count);'
PAIR = "char word[32], prev[32]; int count = 0, val; prev[0] = '\\0';"


def asked(source: str) -> list[str]:
    """The calls that were moved, in order; no getenv is left then in what the kernel is made of."""
    program = analyse(source)[0].program
    found = [s.original for s in program.externs if s.storage == "call"]
    bodies = [program.region.body, *(program.by_name[n].body for n in reached(program, program.region.body))]
    called = {ir.called(n) for body in bodies for n in ir_walk.walk(body) if isinstance(n, ir.Call)}
    assert not found or not called & {"getenv", "secure_getenv"}
    return found


@pytest.mark.parametrize(("source", "calls"), [
    (mapper('v = getenv("X") != NULL;' + LAST), ['getenv("X")']),
    (mapper('v = getenv("X") == getenv("X") || !getenv("Y");' + LAST), ['getenv("X")', 'getenv("Y")']),
    (mapper('const char *f = getenv("mapreduce_map_input_file"); v = 1; printf("%s\\t%d\\n", f ? f : "?", v);'),
     ['getenv("mapreduce_map_input_file")']),
    (mapper('v = strcmp(getenv("X"), line) == 0;' + LAST), ['getenv("X")']),
    (mapper('v = secure_getenv("X") || getenv("X");' + LAST, helpers=SAFE), ['secure_getenv("X")', 'getenv("X")']),
    (mapper("v = f(line) + g();" + LAST, helpers="""static int g(void) { return getenv("X") != NULL; }
        static int f(const char *s) { return strcmp(s, getenv("Y") ? getenv("Y") : "") + g(); }"""),
     ['getenv("X")', 'getenv("Y")']),
    (mapper('v = getenv("a\\"b\\\\\\n\\377" "c\\0d") != NULL;' + LAST), ['getenv("a\\"b\\\\\\n\\377c")']),
    (mapper('v = 0; if (v) v = getenv("X") != NULL;' + LAST), ['getenv("X")']),
    (mapper('v = f(line) + !getenv("X") + !getenv("Y");' + LAST,
            helpers="static int f(char *s) { int getenv = s[0]; return getenv; }"), ['getenv("X")', 'getenv("Y")']),
    (combiner(SUM, before=PAIR, flush='if (getenv("X")) ' + FLUSH), ['getenv("X")']),
])
def test_calls_with_a_literal_name_move(source: str, calls: list[str]) -> None:
    analysis = analyse(source)[0]
    assert sorted(asked(source)) == sorted(calls)
    assert analysis.refusals == ()
    why = "does not change within a task: asked once before the loop"
    rows = {v.name: (v.ctype, v.cls, v.reason) for v in analysis.region.variables if "getenv(" in v.name}
    assert rows == {call: ("char *", "sharedRO", f"{call} {why}") for call in calls}
    fields = [f for f in analysis.decisions.shared if "getenv" in f.name]
    assert [f.kind for f in fields] == ["pointer"] * len(calls) + ["string"] * len(calls)
    assert prologue.runs(analysis.program, analysis.facts.calls) == "asked", "another task has another environment"
    text = kernels.text(analysis)
    assert all(f";  // {call}\n" in text for call in calls) and "shared.getenv_1" in text


def test_one_variable_per_name() -> None:
    source = mapper('v = f(getenv("X"));' + LAST, helpers='static int f(char *s) { return s == getenv("X"); }')
    program = analyse(source)[0].program
    [symbol] = [s for s in program.externs if s.storage == "call"]
    bodies = [program.region.body, program.by_name["f"].body]
    assert [sum(isinstance(n, ir.Name) and n.name == symbol.name for n in ir_walk.walk(b)) for b in bodies] == [1, 1]


def test_the_printed_ir_says_which_call_it_is() -> None:
    program = analyse(mapper('v = getenv("X\\"y") != NULL;' + LAST))[0].program
    text = print_ir(program)
    assert '[[hd::call("getenv(\\"X\\\\\\"y\\")")]] extern char *getenv$1;\n' in text
    assert read_ir(text) == program
    [symbol] = [s for s in read_ir(text).externs if s.storage == "call"]
    assert (symbol.name, symbol.original) == ("getenv$1", 'getenv("X\\"y")')


def test_the_prologue_asks() -> None:
    analysis = analyse(mapper('v = getenv("X") || secure_getenv("Y");' + LAST, helpers=SAFE))[0]
    text = prologue.statement(analysis.decisions.shared)
    assert 'hd_live_in_object((const void *)&((char *){getenv("X")}), sizeof((char *){getenv("X")}));' in text
    assert 'hd_live_in_string((const void *)((char *){secure_getenv("Y")}));' in text
    for name in ("getenv", "secure_getenv"):
        assert f"extern char *{name}(const char *);" in text
        assert name not in prologue.statement([]), "declared only where it is asked"


@pytest.mark.parametrize(("source", "why"), [
    (mapper("v = getenv(line) != NULL;" + LAST), "its name is no string literal"),
    (mapper('v = getenv(n ? "X" : "Y") != NULL;' + LAST), "its name is no string literal"),
    (mapper("v = f(\"X\");" + LAST, helpers="static int f(const char *s) { return getenv(s) != NULL; }"),
     "its name is no string literal"),
    (mapper('v = getenv("X") != NULL;' + LAST, helpers="extern char **environ;", before="environ[0] = k;"),
     "the program uses environ"),
    (mapper('v = getenv("X") != NULL;' + LAST, before="envp[0] = k;").replace(
        "int main(void)", "int main(int argc, char **argv, char **envp)"), "the program uses environ"),
    (mapper('v = setenv("X", line, 1) + (getenv("X") != NULL);' + LAST,
            helpers="int setenv(const char *, const char *, int);"), "the environment is one for all records"),
    (mapper('v = putenv(k) + (getenv("X") != NULL);' + LAST, helpers="int putenv(char *);"),
     "the environment is one for all records"),
])
def test_what_stays_refused(source: str, why: str) -> None:
    found = [r.message for r in analyse(source)[0].refusals if r.code == "HD220"]
    assert found and why in found[0]


@pytest.mark.parametrize("body", [
    '*getenv("X") = line[0]; v = 1;', 'char *f = getenv("X"); f[1]++; v = 1;', 'v = strtok(getenv("X"), ",") != NULL;',
    'strcpy(getenv("X"), line); v = 1;', 'v = set(getenv("X"));',
])
def test_nobody_writes_into_the_environment(body: str) -> None:
    assert "HD225" in codes(mapper(body + LAST, helpers="static int set(char *s) { return s[0] = 1; }"))


def test_a_function_of_that_name_is_the_programs_own() -> None:
    """Its argument is not the name of an environment variable."""
    own = "char *getenv(const char *name) { return (char *)name + 1; }"
    assert asked(own + mapper('v = *getenv("XY");' + LAST)) == []


def test_calls_before_the_loop_stay_there() -> None:
    helper = 'static int f(void) { return getenv("X") != NULL; }'
    early = 'int early = f() + !getenv("Y");'
    source = mapper('v = f() + early + (getenv("Y") != NULL);' + LAST, helpers=helper, before=early)
    program = analyse(source)[0].program
    before = [ir.called(n) for n in ir_walk.walk(program.enclosing.body) if isinstance(n, ir.Call)]
    assert before.count("getenv") == 1 and sorted(asked(source)) == ['getenv("X")', 'getenv("Y")']


@pytest.mark.parametrize("call", ['setenv("X", "1", 1);', 'unsetenv("X");'])
def test_the_environment_may_be_set_before_the_loop(call: str) -> None:
    helpers = "int setenv(const char *, const char *, int); int unsetenv(const char *);"
    analysis = analyse(mapper('v = getenv("X") != NULL;' + LAST, helpers=helpers, before=call))[0]
    assert analysis.refusals == () and prologue.runs(analysis.program, analysis.facts.calls) != "once"


def test_putenv_keeps_the_region_on_the_cpu() -> None:
    """Its string is the program's own variable, which the loop could change."""
    source = mapper('v = getenv("X") != NULL;' + LAST, helpers="int putenv(char *);", before='putenv("X=1");')
    assert codes(source) == {"HD226"}


def test_a_fold_may_name_the_input_in_its_failure() -> None:
    check = 'if (word[0] == 42) { fprintf(stderr, "%s: %s\\n", getenv("mapreduce_map_input_file"), word); exit(1); }'
    analysis = analyse(combiner(check + SUM, before=PAIR, flush=FLUSH))[0]
    assert analysis.has_kernel and analysis.region.fold is not None
    assert "shared.getenv_1" in kernels.text(analysis)
    assert "getenv(" in passes.uses_text(analysis)
