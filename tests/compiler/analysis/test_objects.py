"""Abstract objects: one of each, with an order that is the same in every run, and no two kinds taken for each other."""

from __future__ import annotations

import copy
import pickle

from heterodoop.compiler.analysis.objects import (
    ERRNO,
    RECORD,
    STRTOK,
    Behind,
    Cell,
    Code,
    Global,
    Heap,
    Literal,
    Local,
    Object,
    Returned,
    Unnamed,
)

from ..regions import analyse, classes, codes, mapper

KINDS: list[Object] = [
    Local("main", "word"), Local("main", "word$2"), Global("weight"), Global("word"), Returned("main"), Heap(3), Unnamed(3),
    Code("main"), Behind(Local("main", "word")), RECORD, STRTOK, ERRNO, Literal(b"text"),
]


def test_there_is_one_of_each() -> None:
    assert Local("main", "word") is KINDS[0] and Local("main", "word").cell is Cell(KINDS[0], ())
    assert len(set(KINDS)) == len(KINDS) == len({str(obj) for obj in KINDS})
    for obj in KINDS:
        assert copy.deepcopy(obj) is obj and pickle.loads(pickle.dumps(obj)) is obj
    assert Heap(3) != Unnamed(3) and Global("word") != Code("word") and Global("literal") != Literal(b"literal")


def test_their_order_is_that_of_their_texts() -> None:
    assert [str(obj) for obj in sorted(KINDS)] == sorted(map(str, KINDS))
    cells = [Cell(Global("b"), ()), Cell(Global("a"), ("x", "y")), Cell(Global("a"), ("x",))]
    assert sorted(cells) == [cells[2], cells[1], cells[0]]


def test_messages_name_them_as_the_user_does() -> None:
    shown = {str(obj): obj.shown for obj in KINDS}
    assert shown["main::word$2"] == "word" and shown["heap@3"] == "memory" and shown["*record"] == "the line"
    assert shown["@main::word"] == "what 'word' points to" and shown["main::return"] == "what main() returns"


def test_parts_of_an_object() -> None:
    whole = Global("s").cell
    inner = whole.member("a").member("b")
    assert inner.path == ("a", "b") and whole.holds(inner) and whole.member("a").holds(inner) and whole.holds(whole)
    assert not inner.holds(whole) and not whole.member("b").holds(inner) and not Global("t").cell.holds(inner)


def test_what_belongs_to_a_call() -> None:
    assert [str(obj) for obj in KINDS if obj.within("main")] == ["main::word", "main::word$2", "main::return"]
    assert not Local("main", "word").within("other")


def test_a_users_variable_may_have_a_name_of_ours() -> None:
    """Carried from record to record, whatever it is called."""
    for name in ("literal", "heap", "record", "external"):
        source = mapper(f"v = {name}++; strcpy(k, line);", helpers=f"static int {name};")
        assert codes(source) == {"HD210"} and classes(source)[name] == "carried"


def test_a_literal_of_the_users_points_to_no_variable() -> None:
    program = analyse(mapper('const char *p = "a"; v = *p + literal[0]; strcpy(k, line);', helpers="char literal[4];"))[0]
    points_to = program.facts.points_to
    assert points_to.contents(Local("main", "p")) == {Literal(b"a")} and not points_to.contents(Global("literal"))
