"""Rows of the table of passes: a fact is computed once, by its needs only, and its own time is its own."""

from __future__ import annotations

import pytest

from heterodoop.compiler.steps import Asked, Times, fact, rows
from heterodoop.errors import CompilerBug


class Numbers(Asked):
    """Facts about nothing."""

    def __init__(self) -> None:
        super().__init__(Times())
        self.computed: list[str] = []

    @fact(dump=str)
    def one(self) -> int:
        """the first"""
        self.computed.append("one")
        return 1

    @fact("one")
    def two(self) -> int:
        """what stands on it"""
        self.computed.append("two")
        return self.one + self.one

    @fact("one")
    def sly(self) -> int:
        """asks for more than it says"""
        return self.two


def test_a_fact_is_computed_when_it_is_asked_for_and_kept() -> None:
    numbers = Numbers()
    assert not numbers.computed
    assert (numbers.two, numbers.one, numbers.two) == (2, 1, 2)
    assert numbers.computed == ["two", "one"] and list(numbers.times.seconds) == ["two", "one"]


def test_the_rows_say_what_a_fact_is_for_and_needs() -> None:
    assert [(row.name, row.doc, row.needs) for row in rows(Numbers)] == [
        ("one", "the first", ()), ("two", "what stands on it", ("one",)), ("sly", "asks for more than it says", ("one",))]
    assert Numbers.one.row.dump is str


@pytest.mark.parametrize("known_before", [False, True])
def test_a_fact_that_is_not_among_the_needs_is_not_given(known_before: bool) -> None:
    numbers = Numbers()
    if known_before:
        assert numbers.two == 2
    with pytest.raises(CompilerBug, match="'sly' asks for 'two', which is not among its needs"):
        assert numbers.sly
    assert numbers.two == 2, "and goes on"


def test_the_time_of_an_inner_step_is_not_the_outer_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 3.0, 6.0])
    monkeypatch.setattr("heterodoop.compiler.steps.time.perf_counter", lambda: next(clock))
    times = Times()
    with times.step("outer"), times.step("inner"):
        pass
    assert times.seconds == {"outer": 4.0, "inner": 2.0}
