"""Pass `environment`: a call of getenv with a literal name, in the region or a helper, becomes a variable from outside it.

Such a call gives the same for every record of a task, so the prologue makes it once, where the region begins, and the
kernel gets the string, or NULL. The variable is an `extern` of storage "call", one per name that is asked for. Calls
outside the region stay, and so do those whose name is computed (HD220). A program that gets at the environment other
than by calls (`environ`, main's third parameter) could change it unseen: nothing of it moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import reached
from ..ir.names import escape
from ..types import ctype
from .stdio import literal

CALLS = frozenset({"getenv", "secure_getenv"})
VARIABLES = frozenset({"environ", "__environ"})
_TEXT = ctype.Pointer(ctype.CHAR)


def environment(program: ir.Program) -> ir.Program:
    if _by_hand(program):
        return program
    mover = _Mover(program)
    helpers = reached(program, program.region.body) - {program.region.function}
    functions = tuple(
        replace(f, body=ir_walk.rewrite(f.body, mover.change)) if f.name in helpers else f for f in program.functions)
    region = replace(program.region, body=ir_walk.rewrite(program.region.body, mover.change))
    if not mover.symbols:
        return program
    externs = (*program.externs, *mover.symbols.values())
    return replace(program, functions=functions, region=region, externs=externs)


def moved(program: ir.Program) -> bool:
    """Does the region read results of calls that the prologue makes?"""
    return any(s.storage == "call" and s.name.partition("$")[0] in CALLS for s in program.externs)


def asked_in_loop(program: ir.Program) -> set[str]:
    """The names, as C literals have them, for which the calls ask that were moved."""
    calls = [s.original for s in program.externs if s.storage == "call" and s.name.partition("$")[0] in CALLS]
    return {call.partition('("')[2].removesuffix('")') for call in calls}


def _by_hand(program: ir.Program) -> bool:
    third = {p.name for p in program.enclosing.params[2:]}
    named = ir_walk.names(program.enclosing.body) | ir_walk.names(program.region.body)
    return bool(third & named) or any(s.name in VARIABLES for s in (*program.globals, *program.externs))


class _Mover:
    """`symbols`: the variables made so far, by function and name asked for."""

    def __init__(self, program: ir.Program) -> None:
        self._own = program.by_name
        self._taken = set(_names(program))
        self.symbols: dict[tuple[str, bytes], ir.Symbol] = {}

    def change(self, node: Any) -> Any:
        name = ir.called(node) if isinstance(node, ir.Call) else ""
        if name not in CALLS or name in self._own or len(node.args) != 1 or node.type != _TEXT:
            return node
        asked = literal(node.args[0])
        if asked is None:
            return node
        return ir.Name(_TEXT, self._symbol(name, asked, node).name, span=node.span)

    def _symbol(self, function: str, asked: bytes, node: ir.Call) -> ir.Symbol:
        key = function, asked
        if key not in self.symbols:
            name = next(n for i in count(1) if (n := f"{function}${i}") not in self._taken)
            self._taken.add(name)
            self.symbols[key] = ir.Symbol(name, f"{function}({escape(asked)})", _TEXT, "call", span=node.span)
        return self.symbols[key]


def _names(program: ir.Program) -> Iterator[str]:
    yield from (s.name for s in (*program.globals, *program.externs))
    for function in program.functions:
        yield from (function.name, *(s.name for s in (*function.params, *function.locals)))
