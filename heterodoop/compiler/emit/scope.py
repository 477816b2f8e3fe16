"""What a name is called in generated text: a local, a field of `shared` or `globals`, a constant table, a function.

`KernelStyle` is what all functions of one kernel have in common, `Scope` one function's view of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ...values import dataclass
from ..analysis.objects import ANY_TEXT, RECORD, Arena, Code, Hidden, Local, Object, Variable, variable
from ..decide import cuda_names
from ..decide.decisions import TOTALS, Place
from ..device import nodes
from ..device.program import CopyAhead, Function, Program
from ..ir import ir
from ..types.ctype import CType
from .leaf import PREC
from .map_fold import MapFold

ARGUMENT = PREC["="]
_OWN = frozenset({"private", "warp", "lane", "constant"})
_TOTALS = {"thread-total": "hd.thread_totals.", "block-total": "hd.block_totals->", "device-total": "hd.totals->"}


@dataclass(frozen=True)
class Texts:
    """How expressions become text (`expr`): each takes how tightly the text must bind at least."""

    value: Callable[[ir.Expr, Scope, int], str]
    converted: Callable[[CType, ir.Expr, Scope, int], str]
    typed: Callable[[ir.Expr, Scope], str]


@dataclass(frozen=True)
class KernelStyle:
    """numbers: constant numbers of a printed value stand as numbers, since a sink takes those as they are. map_fold: of
    the pairs that a map kernel folds itself. one_thread: it is a host kernel's, which gathers in one place."""

    program: Program
    texts: Texts
    numbers: bool = False
    map_fold: MapFold | None = None
    one_thread: bool = False

    @cached_property
    def copies(self) -> bool:
        """Are there loops that copy ahead?"""
        return self.one_thread and any(isinstance(node, CopyAhead) for node in self.program.nodes())

    @cached_property
    def fields(self) -> dict[Object, str]:
        """Key -> field name of everything in `Shared`, in order. Memory (`*p`) is reached through its pointer."""
        found: dict[Object, str] = {}
        for field in self.program.decisions.fields():
            text = field.kind == "string"  # of a call's result perhaps, which has no name
            found[field.key] = f"hd_text_{len(found)}" if text else cuda_names.unique(field.name, found.values())
        return found

    @cached_property
    def lane_fields(self) -> dict[Object, tuple[Place, str]]:
        """Key -> place and field name of everything in `Globals`."""
        found: dict[Object, tuple[Place, str]] = {}
        for place in self.program.decisions.places:
            if place.space == "lane":
                name = memory_name(place) if place.name.startswith("*") else place.name
                found[place.key] = place, cuda_names.unique(name, [used for _, used in found.values()])
        return found

    @cached_property
    def total_fields(self) -> dict[Object, tuple[Place, str]]:
        """Key -> place and field name of everything in `Totals`."""
        found: dict[Object, tuple[Place, str]] = {}
        for place in self.program.decisions.places:
            if place.space in TOTALS:
                found[place.key] = place, cuda_names.unique(place.name, [used for _, used in found.values()])
        return found

    @cached_property
    def global_names(self) -> dict[Object, str]:
        """Variables of file scope, helpers and constant tables, as they are spelt at the level of the file."""
        program, names = self.program, dict[Object, str]()
        constants = [p.key for p in program.decisions.places if p.space == "constant" and isinstance(p.key, Local)]
        variables = [variable(program.source, "", s.name) for s in program.source.globals]
        for key in (*variables, *(Code(f.name) for f in program.helpers), *constants):
            assert isinstance(key, (Variable, Hidden, Code))
            names[key] = cuda_names.unique(key.name, names.values())
        return names

    @cached_property
    def literals(self) -> dict[bytes, str]:
        """Literals that stand in a table, so that it is known where they end: their names in it."""
        if ANY_TEXT not in self.program.extents.shared:
            return {}
        found = dict.fromkeys(n.data for n in self.program.nodes() if isinstance(n, ir.Str))
        return {data: f"t{number}" for number, data in enumerate(found)}

    def apart(self, key: Object) -> bool:
        """Is the object declared as an Apart (lane/extent.cuh), whose member it then is? Those of which each thread has its
        own, and constant tables; others lie apart by themselves."""
        if key not in self.program.extents.shared or not isinstance(key, Variable):
            return False
        if isinstance(key, Local) and key.name in {p.name for p in self.program.source.by_name[key.function].params}:
            return False
        place = self.program.decisions.by_key(key)
        return place is None or place.space in _OWN

    def guard(self, key: Object) -> str:
        """The guard of an object; the line is its own, the arena that of all that the record allocates."""
        if isinstance(key, Arena):
            return "hd.arena"
        return "hd.in" if key is RECORD else f"hd.guards.{self.program.guards.by_key[key].name}"


class Scope:
    """One function's names. region: those of the enclosing function, whose body is the kernel's."""

    def __init__(self, kernel: KernelStyle, function: Function | None = None) -> None:
        """function: a helper, None: the region's."""
        self.kernel, self.region = kernel, function is None
        self.function: Function | ir.Function = function if function is not None else kernel.program.source.enclosing
        self._names: dict[str, str] = {}
        outside = set(kernel.global_names.values())
        for symbol in (*self.function.params, *self.function.locals):
            self._names[symbol.name] = cuda_names.unique(symbol.name, outside | set(self._names.values()))

    def value(self, node: ir.Expr, least: int = ARGUMENT) -> str:
        """A value, in brackets where it binds weaker than `least`."""
        return self.kernel.texts.value(node, self, least)

    def converted(self, kind: CType, node: ir.Expr, least: int = ARGUMENT) -> str:
        """A value where C++ itself converts to `kind`: initialiser, assigned value, argument, returned value."""
        return self.kernel.texts.converted(kind, node, self, least)

    def typed(self, node: ir.Expr) -> str:
        """A value whose C++ type is the IR's."""
        return self.kernel.texts.typed(node, self)

    def local(self, name: str) -> str:
        """A local's own name, wherever its value comes from."""
        return self._names[name]

    def variable(self, node: nodes.Var | nodes.Memory) -> str:
        """The text that names an object."""
        if isinstance(node, nodes.Memory):
            place = self.kernel.program.decisions.by_key(node.key)
            assert place is not None
            return self._of_thread(node.key) if place.space == "lane" else memory_name(place)
        return f"{self.declared(node)}.value" if self.kernel.apart(node.key) else self.declared(node)

    def declared(self, node: nodes.Var) -> str:
        """The text that names what was declared for a variable."""
        if node.space in ("", "private", "warp"):
            return self._names[node.name]
        if node.space == "lane":
            return self._of_thread(node.key)
        if node.space == "constant":
            return self.kernel.global_names[node.key]
        if node.space in TOTALS:
            place = "hd_totals." if self.kernel.one_thread else _TOTALS[node.space]
            return f"{place}{self.kernel.total_fields[node.key][1]}"
        field = self.kernel.fields[node.key]
        if node.space == "shared":
            return f"{block_name(field)}.value" if self.region else f"hd.{field}_block"
        return f"shared.{field}" if self.region else f"hd.shared.{field}"

    def _of_thread(self, key: Object) -> str:
        return f"hd.globals.{self.kernel.lane_fields[key][1]}"


def memory_name(place: Place) -> str:
    """The array in the kernel that is a thread's own copy of memory that was allocated before the region."""
    return f"hd_{cuda_names.unique(place.name.lstrip('*'), ())}_memory"


def block_name(field: str) -> str:
    """A block's copy of what a field of `Shared` points to. No name of the program's begins with hd_."""
    return f"hd_{field}_block"


def line(node: ir.Node) -> int:
    """The source line that a check names, 0: not known."""
    return max(node.span.line, 0)
