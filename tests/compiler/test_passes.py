"""The table of passes, and what they hand on: manifest.Region, output sites, reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from heterodoop.compiler import passes
from heterodoop.compiler.ir import formats, ir
from heterodoop.compiler.ir import walk as ir_walk
from heterodoop.compiler.normalise.prune import prune
from heterodoop.errors import CompilerBug

from .regions import analyse, combiner, mapper


def test_every_pass_is_described() -> None:
    assert [p.name for p in passes.PASSES] == [
        "stdio", "callbacks", "environment", "gotos", "record_loop", "vlas", "accumulators",
        "restored", "flush", "prune"]
    assert all(len(p.doc) > 20 for p in (*passes.PASSES, *passes.FACTS))
    assert all(why for p in passes.PASSES for _, why in p.needs)


def test_order_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "PASSES", (passes.PASSES[4], *passes.PASSES))
    with pytest.raises(CompilerBug, match="pass stdio must come before record_loop"):
        passes.check_order()


def test_a_fact_stands_behind_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "FACTS", passes.FACTS[1:])
    with pytest.raises(CompilerBug, match="stands before what it needs: calls"):
        passes.check_order()


def test_every_fact_is_computed_once_and_timed() -> None:
    facts = analyse(mapper("v = 1; strcpy(k, line);"))[0].facts
    assert list(facts.times.seconds)[:12] == [
        "lower", "verify", "stdio", "callbacks", "environment", "gotos", "record_loop", "vlas", "accumulators",
        "restored", "flush",
        "prune"]
    assert list(facts.times.seconds)[12:] == [row.name for row in passes.FACTS]
    assert facts.points_to is facts.points_to and facts.uses.points_to is facts.points_to
    assert all(spent >= 0 for spent in facts.times.seconds.values())
    *steps, total = facts.times.text().splitlines()
    assert len(steps) == len(facts.times.seconds) and total.endswith("in all")


def test_every_step_has_a_dump_that_reads() -> None:
    helpers = "static int up(int x) { return x ? up(x - 1) : *(&x); } static int table[3] = {1, 2, 3};"
    analysis, _ = analyse(mapper("v = up(table[n % 3]); strcpy(k, line); errno = 3 + (v = 2);", helpers=helpers))
    texts = {name: passes.dump(analysis, name) for name in passes.dumps()}
    assert list(texts)[:11] == [
        "lower", "stdio", "callbacks", "environment", "gotos", "record_loop", "vlas", "accumulators",
        "restored", "flush", "prune"]
    assert "[[hd::records]]" in texts["record_loop"] and "[[hd::records]]" not in texts["stdio"]
    assert "up (recursive): up\n" in texts["calls"] and "main::line -> *record\n" in texts["points_to"]
    assert "main::k: read -" in texts["flow"] and "table" in texts["decisions"] and "threads" in texts["launch"]


def test_passes_do_nothing_twice() -> None:
    program = analyse(mapper('v = 1; fputs(line, stdout);'))[0].program
    for step in passes.PASSES:
        if step.name != "record_loop":
            assert step.run(program) == program


def test_a_pass_without_anything_to_do_gives_the_same_object(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is neither checked nor printed again."""
    seen: list[str] = []
    monkeypatch.setattr(passes, "verify_program", lambda program, name: seen.append(name))
    program = analyse(mapper('v = 2; fputs(line, stdout); strcpy(k, "same");'))[0].program
    assert seen == ["lower", "stdio", "record_loop", "prune"]
    assert all(step.run(program) is program for step in passes.PASSES if step.name != "record_loop")


def test_text_that_reads_back_as_another_program_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "read_ir", lambda text: None)
    monkeypatch.setattr(passes, "print_ir", lambda program: "")
    with pytest.raises(CompilerBug, match="reads back as another"):
        analyse(mapper('v = 3; strcpy(k, "other");'))


def test_what_is_known_of_a_part_outlives_a_rewrite_of_it() -> None:
    """Facts go by numbers: a part that takes another's place is the same to them, one that is new is not."""
    analysis, _ = analyse(mapper("char *p = malloc(8); p[0] = 1; v = p[0]; strcpy(k, line);"))

    def change(_: str, node: Any) -> Any:
        return replace(node, args=(ir.Const(node.args[0].type, 16),)) if _called(node) == "malloc" else node

    changed = ir_walk.map_functions(analysis.program, change)
    [old] = [n for n in ir_walk.walk(analysis.program.region.body) if _called(n) == "malloc"]
    [new] = [n for n in ir_walk.walk(changed.region.body) if _called(n) == "malloc"]
    assert new != old and new is not old
    assert analysis.facts.points_to.sites[new.number] == analysis.facts.points_to.sites[old.number]
    assert ir.Break().number != ir.Break().number and ir.Break() == ir.Break()


def _called(node: Any) -> str:
    return ir.called(node) if isinstance(node, ir.Call) else ""


def test_prune_keeps_what_is_named() -> None:
    helpers = "static int a = 1, b = 2, c; static int *pa = &a;"
    program = analyse(mapper("v = *pa; fprintf(stderr, \"%d\", b);", helpers=helpers))[0].program
    assert [s.name for s in program.globals] == ["a", "pa", "b"]
    assert "stderr" not in {s.name for s in program.externs}
    bare = replace(program, region=replace(program.region, body=ir.Block(())))
    assert not prune(bare).globals


def test_a_pass_that_breaks_the_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(program: ir.Program) -> ir.Program:
        return ir_walk.map_functions(program, lambda _, n: replace(n, name="nobody") if isinstance(n, ir.Name) else n)

    monkeypatch.setattr(passes, "PASSES", (*passes.PASSES, passes.Pass("breaker", "breaks every name there is", broken)))
    with pytest.raises(CompilerBug, match="after pass 'breaker'"):
        analyse(mapper("v = 42;"))


def test_output_sites() -> None:
    helpers = 'static void put(FILE *out, int x) { fprintf(out, "h%d\\t%%\\n", x); }'
    helpers += ' static void unused(void) { puts("no"); }'
    body = """printf("%s\\t%d\\n", k, v); puts("whole"); printf("%s", k); putchar('\\t'); fputs("x\\ty\\tz\\n", stdout);
      printf("a\\nb\\t1\\n"); put(stdout, v); fwrite(k, 1, 2, stdout); fprintf(stderr, "e\\n"); printf(k);"""
    region = analyse(mapper("v = 1; strcpy(k, line);\n" + body, helpers=helpers))[0].region
    found = [(e.call, e.format, e.key, e.value) for e in region.emissions]
    assert found == [
        ("printf", "%s\t%d\n", "%s", "%d"), ("puts", "whole\n", "whole", ""), ("printf", "%s", "", ""),
        ("putchar", "\t", "", ""), ("fputs", "x\ty\tz\n", "x", "y\tz"), ("printf", "a\nb\t1\n", "", ""),
        ("fwrite", "%!", "", ""), ("printf", "", "", ""),
        ("fprintf", "h%d\t%%\n", "h%d", "%%"),
    ]
    assert all(e.place for e in region.emissions)


def test_region_of_the_manifest() -> None:
    analysis, _ = analyse(mapper("v = 1; strcpy(k, line);", pragma="#pragma mapreduce mapper key(k) value(v) keylength(32)"
                                 " vallength(1) kvpairs(3) blocks(4) threads(64)"))
    region = analysis.region
    assert (region.kind, region.function, region.reader, region.key, region.value) == ("mapper", "main", "getline", "k", "v")
    assert (region.keylength, region.vallength, region.kvpairs, region.blocks, region.threads) == (32, 1, 3, 4, 64)
    assert (region.pairs, region.fold) == (None, None)
    [k] = [v for v in region.variables if v.name == "k"]
    assert (k.ctype, k.nbytes, k.cls) == ("char[32]", 32, "private") and k.place


def test_reader_of_a_combiner() -> None:
    loop = 'while (scanf("%8s\\t%d\\n", word, &val) == 2)'
    source = combiner("count += val;", before="char word[9], prev[9]; int count = 0, val;", loop=loop)
    assert analyse(source)[0].region.reader == 'scanf "%8s\\t%d\\n"'


def test_texts() -> None:
    analysis, _ = analyse(mapper("v = 1; strcpy(k, line);"))
    assert "[[hd::records]]" in passes.ir_text(analysis)
    assert passes.uses_text(analysis).splitlines()[0].split()[:3] == ["k", "char[32]", "private"]


def test_reasons_come_once() -> None:
    analysis, _ = analyse(mapper("v = rand(); strcpy(k, line); f(); f();", helpers="static void f(void) { exit(0); }"))
    assert [r.code for r in analysis.refusals] == ["HD221", "HD214"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", []), (b"100%%\n", [b"100%\n"]), (b"%d", ["%d"]), (b"a%5.2fb%-*.*ld", [b"a", "%5.2f", b"b", "%-*.*ld"]),
        (b"%", None), (b"%y", None), (b"%m!", ["%m", b"!"]), (b"%hhx%#X", ["%hhx", "%#X"]),
    ])
def test_printf_formats(text: bytes, expected: list[bytes | str] | None) -> None:
    parts = formats.split_printf(text)
    assert (parts if parts is None else [p if isinstance(p, bytes) else p.spec for p in parts]) == expected


def test_printf_arguments() -> None:
    takes = {spec: formats.conversion(spec).takes for spec in ("%d", "%*d", "%-*.*f", "%m", "%!")}
    assert takes == {"%d": 1, "%*d": 2, "%-*.*f": 3, "%m": 0, "%!": 3}
    specs = ("%hhd", "%u", "%lx", "%zu", "%f", "%c", "%s")
    types = {spec: str(formats.argument_type(formats.conversion(spec))) for spec in specs}
    assert types == {"%hhd": "int", "%u": "unsigned int", "%lx": "unsigned long", "%zu": "unsigned long", "%f": "double",
                     "%c": "int", "%s": "char *"}


def test_scanf_formats() -> None:
    scans = formats.split_scanf(b" %31s\t%*d,%ld%[^\t]%c") or []
    found = [(s.letter, s.width, s.length, s.stores) for s in scans]
    assert found == [(" ", 0, "", False), ("s", 31, "", True), (" ", 0, "", False), ("d", 0, "", False), ("=", 0, "", False),
                     ("d", 0, "l", True), ("[", 0, "", True), ("c", 0, "", True)]
    assert formats.split_scanf(b"%y") is None


def test_long_chains() -> None:
    """Deep trees that people do write."""
    chain = "".join(f"if (n == {i}) v = {i}; else " for i in range(60)) + "v = 0;"
    terms = "+".join(["n"] * 400)
    assert not analyse(mapper(f"{chain} v += {terms}; strcpy(k, line);"))[0].refusals


def test_work_grows_as_the_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing goes through the whole function again for each of its statements: of 5,000 lines that takes minutes."""
    visits = 0
    parts = ir_walk._children

    def counted(node: object) -> list[object]:
        nonlocal visits
        visits += 1
        return parts(node)

    monkeypatch.setattr(ir_walk, "_children", counted)
    line = "for (int i = 0; i < 3; i++) { v += i * %d; } if (v %% 7 == %d) v ^= line[0]; else { int t = v; v = t + 1; }\n"
    seen = []
    for lines in (20, 80):
        visits = 0
        assert not analyse(mapper("v = 1; strcpy(k, \"k\");" + "".join(line % (i, i % 5) for i in range(lines))))[0].refusals
        seen.append(visits)
    assert seen[1] < 5 * seen[0]


def test_what_is_too_deep_ends_in_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def deep(program: ir.Program) -> ir.Program:
        return deep(program) if program.externs else program

    first = passes.Pass("deep", "goes down for ever on any real program", deep)
    monkeypatch.setattr(passes, "PASSES", (first, *passes.PASSES))
    with pytest.raises(RecursionError):  # a reason against the GPU for who compiles: test_own_faults.py
        analyse(mapper("v = 4321;"))
