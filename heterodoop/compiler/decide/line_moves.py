"""Pointers into the line that are moved: where the kernel checks that they stay near it.

A read or write that may be the line's or another object's is told by its address which of them it is (guard.cuh, lane.cuh).
A pointer that leaves the line by far would be taken for another's. So in a program with such an access every move of a
pointer that may lead into the line is checked, whatever its form; a program without one has exact checks at each access.
What moves such a pointer by its bytes, as a number, is a reason against the GPU (HD690).

Not here: the accesses themselves (`guards`), the text (`emit.expr`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from ...manifest import Reason
from ..analysis.libc_effects import EFFECTS
from ..analysis.objects import RECORD, Object
from ..analysis.points_to import PointsTo
from ..ir import ir
from ..ir import walk as ir_walk
from ..normalise.callbacks import made_of
from ..types import ctype
from .guards import Guards

_NEAR = 1 << 15  # bytes: half of reader.cuh's text_margin, which is left for members of structs


class LineMoves:
    """`bodies`: what the kernel runs, by the names of the functions."""

    def __init__(
        self, program: ir.Program, bodies: Iterable[tuple[str, ir.Block]], points_to: PointsTo, guards: Guards,
    ) -> None:
        self._program, self._bodies, self._points_to = program, tuple(bodies), points_to
        self._layouts = program.layouts
        self._shared = _read_with_others(guards) or any(
            self._written_with_others(name, node) for name, body in self._bodies for node in ir_walk.walk(body))

    def targets(self, function: str, node: ir.Node) -> set[Object]:
        """The objects into which the pointer that a node moves may lead."""
        pointer = _moved(node)
        return self._points_to.targets(function, pointer) if pointer is not None else set()

    def checked(self, function: str, node: ir.Node) -> bool:
        """Does the node move a pointer that may lead into the line, so that the kernel looks how far?"""
        if not self._shared:
            return False
        if isinstance(node, ir.Member):
            large = (self._layouts.size(node.base.type) or 0) > _NEAR
            return large and RECORD in self._points_to.objects(function, node.base)
        pointer = _moved(node)
        return pointer is not None and RECORD in self._points_to.targets(function, pointer)

    @cached_property
    def refusals(self) -> tuple[Reason, ...]:
        """Pointers into the line that can be moved as numbers."""
        if not self._shared:
            return ()
        found = [node for name, body in self._bodies for node in ir_walk.walk(body) if self._as_numbers(name, node)]
        places = [node.span for node in found] + [s.span for s in self._copied()]
        text = "the address of a place in the line is changed as a number"
        return tuple(dict.fromkeys(Reason("HD690", text, span) for span in places))

    def _as_numbers(self, function: str, node: ir.Node) -> bool:
        """Does it lead to the bytes of a pointer into the line: as a union's other member, or by a pointer to numbers?"""
        if isinstance(node, ir.Member) and isinstance(node.base.type, ctype.Struct) and node.base.type.union:
            return not self._has_pointer(node.type) and self._hold_line(self._points_to.objects(function, node.base))
        if not isinstance(node, ir.Cast) or not isinstance(node.operand.type, ctype.Pointer) or made_of(function):
            return False
        to, source = ctype.element(node.type), ctype.element(node.operand.type)
        numbers = isinstance(to, (ctype.Int, ctype.Float)) and not isinstance(source, (ctype.Int, ctype.Float))
        return numbers and self._hold_line(self._points_to.targets(function, node.operand))

    def _copied(self) -> Iterator[ir.Symbol]:
        """Variables without pointers that a pointer into the line was copied to."""
        for function in (None, *self._program.functions):
            for symbol in self._program.globals if function is None else (*function.params, *function.locals):
                key = self._points_to.key(function.name if function else "", symbol.name)
                if not self._has_pointer(symbol.type) and self._hold_line({key}):
                    yield symbol

    def _hold_line(self, objects: Iterable[Object]) -> bool:
        return any(RECORD in self._points_to.contents(obj) for obj in objects)

    def _has_pointer(self, kind: ctype.CType) -> bool:
        if isinstance(kind, ctype.Struct):
            layout = self._layouts.table.get(kind.tag)
            return layout is None or any(self._has_pointer(f.type) for f in layout.fields)
        return isinstance(kind, ctype.Pointer) or (isinstance(kind, ctype.Array) and self._has_pointer(kind.of))

    def _written_with_others(self, function: str, node: ir.Node) -> bool:
        """May it write to the line, or else to another object?"""
        if isinstance(node, (ir.Assign, ir.Step)):
            found = [self._points_to.objects(function, node.target)]
        elif isinstance(node, ir.Call) and (effect := EFFECTS.get(ir.called(node))) is not None:
            found = [self._points_to.targets(function, node.args[access.arg]) for access in effect.writes]
        else:
            return False
        return any(RECORD in objects and len(objects) > 1 for objects in found)


def _read_with_others(guards: Guards) -> bool:
    return any(RECORD in keys and (len(keys) > 1 or site not in guards.strict) for site, keys in guards.sites.items())


def _moved(node: ir.Node) -> ir.Expr | None:
    """The pointer that an expression moves, or goes on from."""
    if isinstance(node, ir.Index):
        return node.base
    if isinstance(node, ir.Binary) and isinstance(node.type, ctype.Pointer):
        return node.left if isinstance(node.left.type, ctype.Pointer) else node.right
    if isinstance(node, ir.Step) or (isinstance(node, ir.Assign) and node.op != "="):
        return node.target if isinstance(node.target.type, ctype.Pointer) else None
    return None
