"""Values: dataclasses as Python's, with fewer methods to compile."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import Any

import pytest

from heterodoop import values

NUMBERS = iter(range(1000))


def classes(dataclass: Any) -> tuple[type[Any], type[Any], type[Any]]:
    """A base with a keyword, one below it with a default, and one that says itself how it is compared."""

    @dataclass(frozen=True)
    class Base:
        number: int = field(default_factory=NUMBERS.__next__, compare=False, repr=False, kw_only=True)

    @dataclass(frozen=True)
    class Pair(Base):
        """Two."""

        left: int
        right: tuple[float, ...] = ()

        def __post_init__(self) -> None:
            if self.left < 0:
                raise ValueError("left")

    @dataclass(frozen=True, eq=False)
    class Own:
        value: int

        def __repr__(self) -> str:
            return "own"

    return Base, Pair, Own


OURS, PYTHONS = classes(values.dataclass), classes(dataclasses.dataclass)


@values.dataclass(frozen=True)
class Kept:
    value: object


@pytest.mark.parametrize("made", [OURS, PYTHONS], ids=["ours", "Python's"])
def test_values_are_made_compared_and_shown_by_their_fields(made: tuple[type[Any], ...]) -> None:
    base, pair, own = made
    nan = float("nan")
    assert pair(1, (2.0,)) == pair(1, right=(2.0,)) != pair(1) and pair(1, number=5).number == 5
    assert pair(1).number != pair(1).number and hash(pair(1)) == hash(pair(1)) and len({pair(1), pair(1), pair(2)}) == 2
    assert pair(1, (nan,)) == pair(1, (nan,))  # as tuples are: the same object is equal
    assert base() == base() and base() != pair(1)
    assert repr(pair(1)).endswith("Pair(left=1, right=())") and repr(own(1)) == "own" and own(1) != own(1)
    assert [f.name for f in dataclasses.fields(pair)] == ["number", "left", "right"]
    changed = dataclasses.replace(pair(1, number=7), left=2)
    assert (changed.left, changed.number) == (2, 7)
    assert pair.__match_args__ == ("left", "right") and pair.__doc__ == "Two."


@pytest.mark.parametrize("made", [OURS, PYTHONS], ids=["ours", "Python's"])
def test_values_stay_as_they_are_and_take_what_they_name(made: tuple[type[Any], ...]) -> None:
    _, pair, _ = made
    value = pair(1)
    for change in (lambda: setattr(value, "left", 2), lambda: setattr(value, "other", 2), lambda: delattr(value, "left")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert value.left == 1
    for wrong in (lambda: pair(), lambda: pair(1, (), 3), lambda: pair(1, other=3)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="left"):
        pair(-1)


def test_a_field_is_looked_at_once() -> None:
    """Twice would be 2 ** 300 times in a value of values."""
    looks = []

    class Looked:
        def __hash__(self) -> int:
            looks.append("hash")
            return 1

        def __eq__(self, other: object) -> bool:
            looks.append("eq")
            return True

    for made in (OURS, PYTHONS):
        looks.clear()
        first, second = made[1](1, Looked()), made[1](1, Looked())
        assert hash(first) == hash(second) and first == second and looks == ["hash", "hash", "eq"]
    deep, same = Kept(0), Kept(0)
    for _ in range(300):
        deep, same = Kept(deep), Kept(same)
    assert deep == same and hash(deep) == hash(same)


def test_values_are_copied_and_kept() -> None:
    assert copy.deepcopy(Kept(3)) == Kept(3) == pickle.loads(pickle.dumps(Kept(3)))


def test_values_are_of_one_kind() -> None:
    with pytest.raises(TypeError):
        dataclasses.dataclass(frozen=True)(type("Below", (Kept,), {"__annotations__": {"more": "int"}}))


def test_a_field_may_have_any_name() -> None:
    """One called `own` once held all the others: what makes a value must have no name that a field may have."""
    @values.dataclass(frozen=True)
    class Named:
        own: bool
        cls: int
        known: str = "k"
        word: tuple[int, ...] = field(default_factory=tuple)

    made = Named(True, 2)
    assert (made.own, made.cls, made.known, made.word) == (True, 2, "k", ())
