"""Launch shapes and optimisation sets: what clauses and options do, and what they may not ask for."""

from __future__ import annotations

import dataclasses

import pytest

from heterodoop.compiler.decide import optimisations
from heterodoop.compiler.decide.launch import DEFAULT_THREADS, LaunchConfig
from heterodoop.compiler.decide.stack import MAX_DEPTH
from heterodoop.errors import UsageError
from heterodoop.kernel_plan import KernelPlan

from ..regions import COMBINER, MAPPER, analyse, combiner, mapper


def shape(
    clauses: str = "", *, pragma: str = MAPPER, before: str = "", helpers: str = "", body: str = "v = 1;",
) -> LaunchConfig:
    return analyse(mapper(body, before=before, helpers=helpers, pragma=f"{pragma} {clauses}"))[0].facts.launch


def test_without_clauses() -> None:
    found = shape()
    assert found == LaunchConfig(DEFAULT_THREADS, 0, 0, key_bytes=31, value_bytes=11, slot_bytes=48, stack_bytes=0)


def test_threads_blocks_and_pairs_are_the_clauses() -> None:
    found = shape("threads(256) blocks(40) kvpairs(7)")
    assert (found.threads, found.blocks, found.kvpairs) == (256, 40, 7)
    assert shape("threads(1024)").threads == 1024
    assert shape("threads(33)").threads == 64 and shape("threads(1)").threads == 32, "whole warps"


def test_a_combiner_has_a_shape_too() -> None:
    pragma = COMBINER + " threads(64)"
    source = combiner("count += val;", before="char prev[32], word[32]; int count = 0, val; prev[0] = 0;", pragma=pragma)
    assert analyse(source)[0].facts.launch.threads == 64


@pytest.mark.parametrize(("declared", "key", "value"), [
    ("char a[10]; double b = 0;", 9, 24), ("int a = 0; long b = 0;", 11, 20), ("char *a = 0; char b = 0;", 19, 4),
    ("short a = 0; float b = 0;", 6, 24), ("unsigned char a[1]; int b[3];", 1, 35), ("char a = 0; __int128 b = 0;", 4, 40),
    ("struct { char name[8]; int n; } a; struct { double x, y[2]; } b;", 7 + 1 + 11 + 1, 24 + 1 + 2 * 24 + 1 + 1),
])
def test_text_lengths_by_type(declared: str, key: int, value: int) -> None:
    length = "keylength(20)" if "*a" in declared else ""
    found = shape(pragma=f"#pragma mapreduce mapper key(a) value(b) {length}", before=declared)
    assert (found.key_bytes, found.value_bytes) == (key, value) and found.slot_bytes % 16 == 0
    assert found.slot_bytes >= key + value + 2


def test_recursion_needs_a_stack() -> None:
    plain = "static int twice(int x) { return 2 * x; }"
    deep = "static int deep(int x) { char t[100]; t[0] = (char)x; return x > 0 ? deep(x - 1) + t[0] : 0; }"
    assert shape(helpers=plain, body="v = twice(1);").stack_bytes == 0
    found = shape(helpers=deep, body="v = deep(3);").stack_bytes
    assert found >= MAX_DEPTH * 100 and found % 16 == 0
    pair = "static int b(int); static int a(int x) { return x ? b(x - 1) : 0; } static int b(int x) { return a(x); }"
    assert shape(helpers=pair, body="v = a(3);").stack_bytes >= 2 * MAX_DEPTH * 128, "both of two that call each other"


# ------------------------------------------------------------------------------------------ sets


def test_the_sets() -> None:
    assert optimisations.chosen() == (
        "block-cursor", "shared-tables", "longest-first", "radix-sort", "hash-fold", "map-fold", "gather", "ordered-loops",
        "word-output", "search-ahead")
    assert optimisations.chosen("paper") == (
        "thread-areas", "texture", "merge-sort", "block-stealing", "vectorized", "scan-aggregation", "warp-combine")


def test_each_item_can_be_switched_off() -> None:
    for name in optimisations.SETS:
        for item in optimisations.chosen(name):
            found = optimisations.chosen(name, [item])
            assert item not in found and found != optimisations.chosen(name)
            instead = optimisations.BY_NAME[item].instead
            assert not instead or instead in found, "somebody must do the work"


def test_exactly_one_of_two_ways_is_on() -> None:
    for without in ([], ["block-cursor"], ["thread-areas"], ["longest-first", "merge-sort"], ["radix-sort"]):
        for name in optimisations.SETS:
            found = set(optimisations.chosen(name, without))
            assert len(found & {"block-cursor", "thread-areas"}) == 1
            assert len(found & {"radix-sort", "merge-sort"}) == 1


def test_what_has_no_effect_is_not_listed() -> None:
    assert "scan-aggregation" not in optimisations.chosen("paper", ["thread-areas"])
    assert "map-fold" not in optimisations.chosen("default", ["hash-fold"])
    for name in optimisations.SETS:
        on = optimisations.chosen(name)
        map, combine = (optimisations.names(optimisations.plan(kind, on)) for kind in ("mapper", "combiner"))
        assert set(map) | set(combine) == set(on) - {"map-fold", "gather", "ordered-loops"} and "warp-combine" not in map
        assert not set(combine) & {"longest-first", "radix-sort", "merge-sort"}


@pytest.mark.parametrize(("name", "without", "said"), [
    ("fast", [], "default, paper"), ("default", ["loop-fusion"], "block-cursor"),
    ("default", ["block-cursor", "thread-areas"], "--no-opt"),
])
def test_wrong_names_are_told(name: str, without: list[str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        optimisations.chosen(name, without)
    assert caught.value.code == "HD005" and said in caught.value.help


def test_each_item_sets_one_field_of_the_plan() -> None:
    for item in optimisations.ALL:
        kind, off = item.kind or "mapper", KernelPlan(sink="ThreadArea" if item.name == "block-cursor" else "BlockCursor")
        on = optimisations.plan(kind, [item.name])
        assert item.switch(off) != off and item.name in optimisations.names(on)
        changed = [f.name for f in dataclasses.fields(off) if getattr(item.switch(off), f.name) != getattr(off, f.name)]
        assert len(changed) == 1
    with pytest.raises(KeyError):
        optimisations.plan("mapper", ["serch-ahead"])


def test_every_item_is_described_and_in_a_set() -> None:
    assert all(len(item.doc) > 20 and item.sets and set(item.sets) <= set(optimisations.SETS) for item in optimisations.ALL)
    assert all(optimisations.BY_NAME[i.instead].instead == i.name for i in optimisations.ALL if i.instead)
