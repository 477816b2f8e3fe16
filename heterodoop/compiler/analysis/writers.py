"""Who writes each object, anywhere in the program: before, in and after the region.

Flow-insensitive, over `PointsTo`. `placement` asks for objects that nobody writes (constant tables) and for pointers that
are set once. What a statement may write counts as written.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...values import dataclass
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from .libc_effects import CONDITIONAL, EFFECTS
from .objects import STRTOK, UNKNOWN, Object
from .points_to import PointsTo, known_call

# Arguments, from the number given on, that a call of `CONDITIONAL` writes through.
_WRITES_FROM = {
    "sscanf": (2, 99), "sprintf": (0, 1), "snprintf": (0, 1), "strtok": (0, 1), "strtok_r": (0, 3), "strsep": (0, 1),
}
# Library functions that call back, read or give back memory: they write through their pointers, and nothing else.
_SAFE_UNKNOWN = frozenset("qsort bsearch fgets fread fscanf scanf getline getdelim printf fprintf sscanf exit abort".split())


@dataclass(frozen=True)
class Write:
    """`value`: what is stored into the whole object, None for any other write. `early`: it may happen before the region."""

    value: ir.Init | None
    early: bool


class Writers:
    """`of(key)`: every write of an object."""

    def __init__(self, program: ir.Program, points_to: PointsTo, calls: CallGraph) -> None:
        self._points_to = points_to
        self._found: dict[Object, list[Write]] = {}
        self.wild = False  # something is written through a pointer of which nothing is known
        self.foreign = False  # functions are called that could write any global of this file
        outside = {program.region.function, *calls.around}
        for function, body in ir_walk.bodies(program):
            self._early = function in outside and body is not program.region.body
            for node in ir_walk.walk(body):
                self._node(function, node)

    def of(self, key: Object) -> list[Write]:
        return self._found.get(key, [])

    def text(self) -> str:
        """One line per object: how often it is written, of that before the region."""
        lines = [f"{key}: {len(found)} writes, {sum(w.early for w in found)} of them early\n"
                 for key, found in sorted(self._found.items())]
        return "".join([*lines, *(["anything may be written\n"] if self.wild else [])])

    def nobody(self, symbol: ir.Symbol, key: Object) -> bool:
        """Does the object keep its static initialiser from the start to the end of the program?"""
        if symbol.storage not in ("global", "static"):
            return False
        if symbol.const:
            return True
        return not self.of(key) and not self.wild and not (self.foreign and symbol.storage == "global")

    def _add(self, keys: Collection[Object], value: ir.Init | None) -> None:
        for key in keys:
            self._found.setdefault(key, []).append(Write(value if len(keys) == 1 else None, self._early))
        self.wild = self.wild or UNKNOWN in keys

    def _node(self, function: str, node: Any) -> None:
        points_to = self._points_to
        if isinstance(node, ir.Assign):
            whole = node.op == "=" and isinstance(node.target, ir.Name)
            self._add(points_to.objects(function, node.target), node.value if whole else None)
        elif isinstance(node, (ir.Step, ir.Accumulate)):
            self._add(points_to.objects(function, node.target), None)
        elif isinstance(node, ir.Decl) and node.init is not None:
            self._add({points_to.key(function, node.name)}, node.init)
        elif isinstance(node, ir.ReadRecord):
            for target in (node.target, node.capacity):
                if isinstance(target.type, ctype.Pointer):
                    self._add(points_to.targets(function, target), None)
        elif isinstance(node, ir.ReadPair):
            for target in node.targets:
                self._add(points_to.targets(function, target), None)
        elif isinstance(node, ir.Call) and not points_to.callees(function, node):
            self._call(function, node, ir.called(node))

    def _call(self, function: str, node: ir.Call, name: str) -> None:
        targets = [self._points_to.targets(function, a) if isinstance(a.type, ctype.Pointer) else set() for a in node.args]
        effect = EFFECTS.get(name)
        if effect is not None:
            for number in {access.arg for access in effect.writes} | {at for at, _ in effect.stores}:
                if number < len(targets):
                    self._add(targets[number], None)
        elif name in CONDITIONAL:
            first, end = _WRITES_FROM.get(name, (0, 0))
            for found in targets[first:end]:
                self._add(found, None)
            if name in ("strtok", "strtok_r", "strsep"):
                held = set().union(*targets, self._points_to.contents(STRTOK)) if targets else set()
                self._add(held | self._reachable(held), None)
        else:
            held = set().union(*targets) if targets else set()
            self._add(held | self._reachable(held), None)
            self.foreign = self.foreign or not (known_call(name) or name in _SAFE_UNKNOWN)

    def _reachable(self, keys: set[Object]) -> set[Object]:
        """Objects that can be got at from these by following pointers."""
        found: set[Object] = set()
        pending = list(keys)
        while pending:
            for inner in self._points_to.contents(pending.pop()):
                if inner not in found:
                    found.add(inner)
                    pending.append(inner)
        return found


class Prefix:
    """What surely ran when the region is reached: writes of the enclosing function's straight-line code before it."""

    def __init__(self, program: ir.Program) -> None:
        self._done: set[int] = set()
        nodes = ir_walk.walk(program.enclosing.body)
        if not any(isinstance(n, (ir.Goto, ir.Label, ir.Switch)) for n in nodes):
            self._block(program.enclosing.body)

    def surely(self, value: ir.Init) -> bool:
        """Was the value, one of `Writers.of`, stored before the region on every path?"""
        return value.number in self._done

    def _block(self, block: ir.Block) -> bool:
        """Note the statements up to the region; True where it stands in this block."""
        for stmt in block.body:
            if isinstance(stmt, ir.RegionHere):
                return True
            if isinstance(stmt, ir.Decl) and stmt.init is not None:
                self._done.add(stmt.init.number)
            elif isinstance(stmt, ir.ExprStmt):
                self._expression(stmt.expr)
            elif isinstance(stmt, ir.If):
                self._expression(stmt.cond)
            if self._inside(stmt):
                return True
        return False

    def _inside(self, stmt: ir.Stmt) -> bool:
        parts = [stmt] if isinstance(stmt, ir.Block) else [stmt.then, stmt.other] if isinstance(stmt, ir.If) else []
        for part in parts:
            if part is not None and any(isinstance(n, ir.RegionHere) for n in ir_walk.walk(part)):
                return self._block(part)
        if isinstance(stmt, ir.Block):  # a plain block runs too
            return self._block(stmt)
        return False

    def _expression(self, node: ir.Expr) -> None:
        if isinstance(node, ir.Assign):
            self._done.add(node.value.number)
            self._expression(node.value)
        elif isinstance(node, (ir.Cast, ir.Unary)):
            self._expression(node.operand)
        elif isinstance(node, ir.Binary):
            self._expression(node.left)
            if node.op not in ("&&", "||"):
                self._expression(node.right)
        elif isinstance(node, ir.Comma):
            self._expression(node.first)
            self._expression(node.second)
