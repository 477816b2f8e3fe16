"""What a name means in generated text: a local, a field of `shared` or `globals`, a constant table, a function.

`Environment` is what all functions of one kernel have in common, `Scope` one function's view of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...errors import CompilerBug
from ..analysis import device_calls
from ..analysis.known_signs import KnownSigns
from ..analysis.locations import Locations
from ..analysis.points_to import RECORD, PointsTo
from ..decide import cuda_names
from ..decide.decisions import Decisions, Place
from ..decide.guards import Guards
from ..decide.overlaps import Overlaps
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import reached
from ..types import ctype
from .rules import can_fail

_HANDED = frozenset({"parameter", "parameter-array", "global", "shared", "texture"})
_STREAMS = {"stdin": 1, "stdout": 2, "stderr": 3}  # addresses that only serve to tell the streams apart


@dataclass(frozen=True)
class Environment:
    program: ir.Program
    decisions: Decisions
    points_to: PointsTo
    guards: Guards

    @cached_property
    def known_signs(self) -> KnownSigns:
        return KnownSigns(self.program)

    @cached_property
    def helpers(self) -> tuple[ir.Function, ...]:
        """The functions that the region reaches, in the program's order."""
        found = reached(self.program, self.program.region.body)
        return tuple(f for f in self.program.functions if f.name in found)

    @property
    def bodies(self) -> tuple[tuple[str, ir.Block], ...]:
        """What the kernel runs, by the names of the functions: the region, then the helpers."""
        return ((self.program.region.function, self.program.region.body), *((f.name, f.body) for f in self.helpers))

    @cached_property
    def calls(self) -> dict[str, frozenset[str]]:
        """Helper -> the helpers that it reaches, itself only where it is recursive."""
        return {f.name: frozenset(reached(self.program, f.body)) for f in self.helpers}

    def recursive(self, name: str) -> bool:
        return name in self.calls[name]

    @cached_property
    def with_context(self) -> frozenset[str]:
        """Helpers that need the lane (output, failures, errno) or variables from outside, themselves or through a callee."""
        direct = {f.name for f in self.helpers if self.recursive(f.name) or self._needs(f)}
        return frozenset(f.name for f in self.helpers if f.name in direct or self.calls[f.name] & direct)

    def _needs(self, function: ir.Function) -> bool:
        for node in ir_walk.walk(function.body):
            if isinstance(node, (ir.Emit, ir.Stderr, ir.Exit)) or can_fail(node) or self.writes_line(function.name, node):
                return True
            if self.guards.touches(self.points_to, function.name, node):
                return True
            if isinstance(node, ir.Call) and (self._call_needs(ir.called(node)) or self.may_overlap(function.name, node)):
                return True
            if isinstance(node, ir.Assign) and self.may_overlap(function.name, node):
                return True
            if isinstance(node, ir.Name) and function.symbol(node.name) is None and self._outside(node.name):
                return True
        return False

    def may_overlap(self, function: str, node: ir.Call | ir.Assign) -> bool:
        """May a library call, or a struct's assignment, copy to where it copies from? The addresses are compared then."""
        if isinstance(node, ir.Assign):
            return self._overlaps.assigned(function, node)
        return not self.own(ir.called(node)) and self._overlaps.may(function, node)

    @cached_property
    def _overlaps(self) -> Overlaps:
        return Overlaps(Locations(self.program, self.points_to))

    def writes_line(self, function: str, node: ir.Node) -> bool:
        """May an assignment or step change the line that getline gave?

        In C its buffer goes on behind the line; on the device the next record may lie there, so such writes are checked.
        """
        if not isinstance(node, (ir.Assign, ir.Step)) or isinstance(node.target, ir.Name):
            return False
        return RECORD in self.points_to.objects(function, node.target)

    def _call_needs(self, name: str) -> bool:
        return not self.own(name) and device_calls.needs_lane(name, self.uses_errno)

    @cached_property
    def uses_errno(self) -> bool:
        """Does the region or a helper look at errno?"""
        bodies = [self.program.region.body, *(f.body for f in self.helpers)]
        return any(ir_walk.names(body) & {"errno", "__errno_location"} for body in bodies)

    def own(self, name: str) -> bool:
        return name in self.program.by_name

    def _outside(self, name: str) -> bool:
        place = self.decisions.by_key(name)
        return name == "errno" or (place is not None and place.space != "constant")

    @cached_property
    def fields(self) -> dict[str, str]:
        """Key -> field name of everything in `Shared`, in order. Memory (`*p`) is reached through its pointer."""
        found: dict[str, str] = {}
        for field in self.decisions.fields():
            found[field.key] = cuda_names.unique(field.name, found.values())
        return found

    @cached_property
    def lane_fields(self) -> dict[str, tuple[Place, str]]:
        """Key -> place and field name of everything in `Globals`."""
        found: dict[str, tuple[Place, str]] = {}
        for place in self.decisions.places:
            if place.space == "lane":
                name = memory_name(place) if place.name.startswith("*") else place.name
                found[place.key] = place, cuda_names.unique(name, [used for _, used in found.values()])
        return found

    @cached_property
    def global_names(self) -> dict[str, str]:
        """Constant tables and helpers by PointsTo key, as they are spelt at the level of the file."""
        names: dict[str, str] = {}
        constants = [p.key for p in self.decisions.places if p.space == "constant" and "::" in p.key]
        for key in [*(s.name for s in self.program.globals), *(f.name for f in self.helpers), *constants]:
            names[key] = cuda_names.unique(key.rpartition("::")[2], names.values())
        return names

    def key(self, function: str, name: str) -> str:
        """The PointsTo key of a variable as `function` names it."""
        own = self.program.by_name.get(function)
        return f"{function}::{name}" if own is not None and own.symbol(name) is not None else name


class Scope:
    """One function's names. `kernel`: the enclosing function's, whose body is the region."""

    def __init__(self, env: Environment, function: ir.Function, *, kernel: bool = False) -> None:
        self.env, self.function, self.kernel = env, function, kernel
        self._names: dict[str, str] = {}
        outside = set(env.global_names.values())
        for symbol in (*function.params, *function.locals):
            self._names[symbol.name] = cuda_names.unique(symbol.name, outside | set(self._names.values()))

    def keeps_sign(self, node: ir.Expr) -> bool:
        """Is the operation's NaN to have the sign that x86-64 gives it?"""
        return self.env.known_signs.exact(self.function.name, node)

    def local(self, name: str) -> str:
        """A local's own name, wherever its value comes from."""
        return self._names[name]

    def variable(self, name: str) -> str:
        """The text that names a variable or function."""
        if name in self._names:
            place = self._read_only(name)
            return self._names[name] if place is None else self._placed(place)
        if name in self.env.program.by_name:
            return self.env.global_names[name]
        if name == "errno":
            return "hd.err"
        if name in _STREAMS:
            return f"(struct _IO_FILE *){_STREAMS[name]}"
        return self._global(name)

    def _global(self, name: str) -> str:
        place = self.env.decisions.by_key(name)
        if place is None:
            return self.env.global_names[name]
        if place.space == "lane":
            return f"hd.globals.{self.env.lane_fields[name][1]}"
        return self._placed(place)

    def _placed(self, place: Place) -> str:
        if place.space == "constant":
            return self.env.global_names[place.key]
        field = self.env.fields[place.key]
        if place.space == "shared":
            return f"{block_name(field)}.value" if self.kernel else f"hd.{field}_block"
        return f"shared.{field}" if self.kernel else f"hd.shared.{field}"

    def place(self, name: str) -> Place | None:
        """The place of an outer variable, None for what a helper or the region has for itself."""
        if name in self._names and not self.kernel:
            return None
        return self.env.decisions.by_key(self.env.key(self.function.name, name))

    def _read_only(self, name: str) -> Place | None:
        """The place of an outer local that is read where its one value lies."""
        place = self.place(name)
        return place if place is not None and (place.space == "constant" or place.space in _HANDED) else None

    def is_constant(self, node: ir.Expr) -> bool:
        """Is an object that stands by its name constant in the text, so that its address is one of a constant?"""
        if isinstance(node, ir.Str):
            return True
        if not isinstance(node, ir.Name) or isinstance(node.type, ctype.Func):
            return False
        if node.name in self._names:
            return self._read_only(node.name) is not None
        place = self.place(node.name)
        return node.name in self.env.global_names and (place is None or place.space not in ("lane", "private", "warp"))

    def memory(self, node: ir.Call) -> str:
        """The local array that stands for what an allocation before the region made, "" for any other call."""
        site = self.env.points_to.sites.get(node.number, "")
        place = self.env.decisions.by_key(site) if site else None
        if place is None or place.space not in ("private", "lane"):
            return ""
        return f"hd.globals.{self.env.lane_fields[site][1]}" if place.space == "lane" else memory_name(place)

    def calls_with_context(self, name: str) -> bool:
        return name in self.env.with_context

    def symbol(self, name: str) -> ir.Symbol:
        found = self.function.symbol(name)
        if found is None:
            raise CompilerBug(f"no variable '{name}' in '{self.function.name}'")
        return found


def memory_name(place: Place) -> str:
    """The array in the kernel that is a thread's own copy of memory that was allocated before the region."""
    return f"hd_{cuda_names.unique(place.name.lstrip('*'), ())}_memory"


def block_name(field: str) -> str:
    """A block's copy of what a field of `Shared` points to. No name of the program's begins with hd_."""
    return f"hd_{field}_block"


def outer_locals(env: Environment) -> Iterator[ir.Symbol]:
    """Variables of the enclosing function that the region uses and does not declare itself, in order of declaration."""
    region = env.program.region
    inside = {n.name for n in ir_walk.walk(region.body) if isinstance(n, ir.Decl)}
    used = ir_walk.names(region.body)
    enclosing = env.program.enclosing
    return (s for s in (*enclosing.params, *enclosing.locals) if s.name in used and s.name not in inside)
