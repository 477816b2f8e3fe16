"""What two ways through a piece of a program leave behind, as one state."""

from __future__ import annotations

from ..analysis.objects import Object, symbol_of
from ..ir import ir
from . import algebra, loop
from .state import RunState, Situation
from .terms import KEPT, KEY, Content, Made, Term, TextTerm, either_words, known, number, value_text


def merged(
    program: ir.Program, condition: loop.Term, then: RunState, other: RunState, situation: Situation,
) -> RunState | None:
    """Where `condition` holds the one, else the other. None where the line is not the same afterwards."""
    if _line(then) != _line(other):
        return None
    state = then.copy()
    state.outside = algebra.choice(condition, then.outside, other.outside)
    if algebra.too_large(state.outside):
        return None
    for key in {*then.terms, *other.terms}:
        state.terms[key] = _term(program, key, condition, then.terms.get(key), other.terms.get(key), situation)
    for key in {*then.contents, *other.contents}:
        state.contents[key] = _text(condition, then.contents.get(key), other.contents.get(key), situation)
    return state


def _line(state: RunState) -> tuple[object, ...]:
    return state.cut, state.chopped, state.cuts, state.strtok, state.by


def _term(
    program: ir.Program, key: Object, condition: loop.Term, then: Term, other: Term, situation: Situation,
) -> Term:
    if then == other and repr(then) == repr(other):
        return then
    if situation == "same" and {then, other} == {KEY, KEPT}:
        return KEY
    words = either_words(condition, then, other)
    if words is not None:
        return words
    symbol = symbol_of(program, key)
    if symbol is None or not (algebra.computes(symbol.type) or algebra.is_numbers(symbol.type)):
        return None
    left, right = number(then, symbol.type), number(other, symbol.type)
    made = algebra.choice(condition, left, right) if left is not None and right is not None else None
    return known(made) if made is not None and not algebra.too_large(made) else None


def _text(
    condition: loop.Term, then: Content | None, other: Content | None, situation: Situation,
) -> Content | None:
    if then == other:
        return then
    left, right = value_text(then), value_text(other)
    if left is not None and right is not None:
        return Made(algebra.choice(condition, left, right))
    return TextTerm.KEY if situation == "same" and {then, other} == {TextTerm.KEY, TextTerm.KEPT} else None
