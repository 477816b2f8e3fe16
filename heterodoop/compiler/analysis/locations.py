"""Parts of objects, as lvalues and pointers name them: may two of them be the same memory?

An object is one of `points_to`; a part is the members and constant elements that lead to it. What a pointer parameter of
a helper points to is an object of its own (`Behind`), which a call replaces by the argument's (`at_call`), so that
`next(&p)` and `next(&q)` change different things. Conservative: what cannot be told apart may be the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...values import dataclass
from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype
from .libc_effects import EFFECTS
from .objects import ERRNO, LITERAL, UNKNOWN, Behind, Code, Local, Object, Returned, Variable, is_literal
from .points_to import PointsTo

Part = int | None | tuple[str, str]  # a constant element, an element, a member of a struct by its tag
Places = frozenset["Location"]
NOWHERE: Places = frozenset()


@dataclass(frozen=True)
class Location:
    """`parts` lead from the object's start to the place, where `rooted`; else only members among them are known."""

    obj: Object
    parts: tuple[Part, ...] = ()
    rooted: bool = False

    def of_member(self, kind: ctype.Struct, name: str) -> Location:
        return self.loose() if kind.union else replace(self, parts=(*self.parts, (kind.tag, name)))

    def element(self, number: int | None) -> Location:
        return replace(self, parts=(*self.parts, number)) if self.rooted else self

    def moved(self, by: int | None) -> Location:
        """Where a pointer leads that is `by` elements (None: any number) further on."""
        if by == 0:
            return self
        last = self.parts[-1] if self.parts else ("", "")
        if not self.rooted or isinstance(last, tuple):
            return self.loose()
        return replace(self, parts=(*self.parts[:-1], None if last is None or by is None else last + by))

    def loose(self) -> Location:
        """The place, or one near it in the same member of the same object."""
        return Location(self.obj, tuple(p for p in self.parts if isinstance(p, tuple)))

    def members(self) -> dict[str, str]:
        return dict(p for p in self.parts if isinstance(p, tuple))


class Locations:
    """Questions about the places of one program."""

    def __init__(self, program: ir.Program, points_to: PointsTo) -> None:
        self._program, self._points_to = program, points_to
        self._addressed: set[Object] = set()
        self._changed: dict[Object, str] = {}
        for function, body in ir_walk.bodies(program):
            for node in ir_walk.walk(body):
                self._note(function, node)

    def _note(self, function: str, node: Any) -> None:
        """Whose address is taken, and which pointers are stepped ("moved") or set ("set")."""
        if isinstance(node, (ir.AddressOf, ir.Decay)):
            self._addressed |= self._points_to.objects(function, node.operand)
        target = ir_walk.changed(node)
        if isinstance(target, ir.Name):
            steps = isinstance(node, ir.Step) or (isinstance(node, ir.Assign) and node.op != "=")
            key = self._points_to.key(function, target.name)
            self._changed[key] = "moved" if steps and self._changed.get(key) != "set" else "set"

    # ------------------------------------------------------------------------------------- naming

    def of(self, function: str, node: ir.Expr) -> Places:
        """The places that an lvalue may name; nothing for the value of a call or assignment."""
        rule = _LVALUES.get(type(node))
        return rule(self, function, node) if rule else NOWHERE

    def behind(self, function: str, node: ir.Expr) -> Places:
        """The places that a pointer value may lead to."""
        rule = _POINTERS.get(type(node))
        return rule(self, function, node) if rule else self._targets(function, node)

    def around(self, function: str, node: ir.Expr) -> Places:
        """All that a function may touch which goes on from a pointer, as string functions do."""
        return frozenset(place.moved(None) for place in self.behind(function, node))

    def _targets(self, function: str, node: ir.Expr) -> Places:
        return frozenset(Location(obj) for obj in self._points_to.targets(function, node))

    def member(self, function: str, node: ir.Member) -> Places:
        kind = node.base.type
        assert isinstance(kind, ctype.Struct)
        return frozenset(place.of_member(kind, node.field) for place in self.of(function, node.base))

    def index(self, function: str, node: ir.Index) -> Places:
        number = _number(node.index)
        if isinstance(node.base, ir.Decay):
            return frozenset(place.element(number) for place in self.of(function, node.base.operand))
        return frozenset(place.moved(number) for place in self.behind(function, node.base))

    def compound(self, function: str, node: ir.Compound) -> Places:
        return frozenset({Location(self._points_to.sites.get(node.number, UNKNOWN))})

    def decay(self, function: str, node: ir.Decay) -> Places:
        return frozenset(place.element(0) for place in self.of(function, node.operand))

    def sum(self, function: str, node: ir.Binary) -> Places:
        left = isinstance(node.left.type, ctype.Pointer)
        pointer, amount = (node.left, node.right) if left else (node.right, node.left)
        number = _number(amount)
        by = -number if number is not None and node.op == "-" else number
        return frozenset(place.moved(by) for place in self.behind(function, pointer))

    def cast(self, function: str, node: ir.Cast) -> Places:
        pointer = isinstance(node.operand.type, ctype.Pointer)
        return self.behind(function, node.operand) if pointer else self._targets(function, node)

    def name(self, function: str, node: ir.Name) -> Places:
        """A parameter that only ever moves within what it was given stands for that."""
        key = self._points_to.key(function, node.name)
        own = self._program.by_name.get(function)
        change = self._changed.get(key, "")
        params = own.params if own is not None and function != self._program.region.function else ()
        if change != "set" and isinstance(key, Local) and any(p.name == node.name for p in params):
            return frozenset({Location(Behind(key), (), rooted=change == "")})
        return self._targets(function, node)

    def call(self, function: str, node: ir.Call) -> Places:
        effect = EFFECTS.get(ir.called(node))
        if effect is not None and effect.result == "arg" and not self._points_to.callees(function, node):
            return frozenset(place.loose() for place in self.behind(function, node.args[effect.source]))
        return self._targets(function, node)

    # ------------------------------------------------------------------------------------- calls

    def at_call(self, function: str, node: ir.Call, callee: ir.Function, place: Location) -> Places:
        """A place of the callee's as its caller sees it: another object's where it stands for an argument's."""
        given = {Behind(Local(callee.name, p.name)): a for p, a in zip(callee.params, node.args, strict=False)}
        if place.obj not in given:
            return frozenset({place})
        return frozenset(_joined(one, place) for one in self.behind(function, given[place.obj]))

    # ------------------------------------------------------------------------------------- comparing

    def overlap(self, one: Location, other: Location) -> bool:
        """May the two be, or have in common, the same bytes?"""
        same = one.obj == other.obj
        if not same and not self._meet(self._objects(one), self._objects(other)):
            return False
        ours, theirs = one.members(), other.members()
        if any(ours[tag] != theirs[tag] for tag in ours.keys() & theirs.keys()):
            return False
        if not (same and one.rooted and other.rooted):
            return True
        return all(a == b or not isinstance(a, int) or not isinstance(b, int)
                   for a, b in zip(one.parts, other.parts, strict=False))

    def any_overlap(self, some: Places, others: Places) -> bool:
        return any(self.overlap(one, other) for one in some for other in others)

    def _objects(self, place: Location) -> set[Object]:
        obj = place.obj
        return self._points_to.contents(obj.pointer) if isinstance(obj, Behind) else {obj}

    def _meet(self, some: set[Object], others: set[Object]) -> bool:
        if some & others:
            return True
        return (UNKNOWN in some and any(map(self._reachable, others))) or (
            UNKNOWN in others and any(map(self._reachable, some)))

    def _reachable(self, obj: Object) -> bool:
        """May a pointer of which nothing is known lead to the object?"""
        named = isinstance(obj, (Variable, Returned, Code)) or obj is ERRNO
        return obj in self._addressed if named else not is_literal(obj)


def _joined(given: Location, place: Location) -> Location:
    if given.rooted and place.rooted:
        return replace(given, parts=(*given.parts, *place.parts))
    members = tuple(p for p in (*given.parts, *place.parts) if isinstance(p, tuple))
    return Location(given.obj, members)


def _number(node: ir.Expr) -> int | None:
    plain = ir_walk.uncast(node)
    return plain.value if isinstance(plain, ir.Const) and isinstance(plain.value, int) else None


_LVALUES: dict[type, Callable[[Locations, str, Any], Places]] = {
    ir.Name: lambda self, function, node: frozenset({Location(self._points_to.key(function, node.name), (), rooted=True)}),
    ir.Member: Locations.member, ir.Index: Locations.index, ir.Compound: Locations.compound,
    ir.Deref: lambda self, function, node: self.behind(function, node.pointer),
    ir.Str: lambda self, function, node: frozenset({Location(LITERAL)}),
}

_POINTERS: dict[type, Callable[[Locations, str, Any], Places]] = {
    ir.Cast: Locations.cast, ir.Decay: Locations.decay, ir.Binary: Locations.sum, ir.Name: Locations.name,
    ir.Call: Locations.call,
    ir.AddressOf: lambda self, function, node: self.of(function, node.operand),
    ir.Conditional: lambda self, function, node: self.behind(function, node.then) | self.behind(function, node.other),
    ir.Comma: lambda self, function, node: self.behind(function, node.second),
    ir.Const: lambda self, function, node: NOWHERE if node.value == 0 else frozenset({Location(UNKNOWN)}),
}
