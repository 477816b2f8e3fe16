"""Read-only pointers of a region: which of them the kernel can set itself, and which the prologue must hand over.

A pointer into a thread's own memory (`char *p = word;`, scratch memory of malloc) has one address per thread, so the
kernel must know its value. A pointer into read-only memory is handed over, and that memory with it. Both at once, or
memory that cannot be named, is a reason against the GPU.
"""

from __future__ import annotations

from typing import Literal

from ...values import dataclass
from ..analysis.code_numbers import only_code
from ..analysis.known import Known
from ..analysis.objects import EXTERNAL, RECORD, UNKNOWN, Code, Heap, Object, is_literal
from ..analysis.uses import Use, UseTable
from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype

_ALLOCATES = frozenset("malloc calloc realloc reallocarray aligned_alloc strdup strndup".split())
_OWN = frozenset({"record", "private", "guarded", "firstprivate"})


@dataclass(frozen=True)
class PlacedPointer:
    """how  "constant" and "own": the kernel sets it to `init`; "handed": the prologue's value, made a device address."""

    how: Literal["constant", "own", "handed"]
    why: str = ""
    init: ir.Init | None = None
    string: bool = False
    code: str = ""
    problem: str = ""


class Pointers:
    """found: key of each read-only pointer variable -> what it is. pinned: objects that handed pointers point to."""

    def __init__(self, program: ir.Program, table: UseTable, known: Known) -> None:
        self._program, self._table, self._known = program, table, known
        self._points_to = table.points_to
        self._classes = {use.key: use.cls for use in table.uses}
        # Textures are read by name only, so what a pointer leads to is none, and no table of constants either.
        self._textures = frozenset(use.key for use in table.uses if use.cls == "texture")
        self.pinned: frozenset[Object] = frozenset()
        self.found: dict[Object, PlacedPointer] = {}
        self._solve([u for u in table.uses if isinstance(u.type, ctype.Pointer) and u.cls in ("sharedRO", "texture")])

    def _solve(self, uses: list[Use]) -> None:
        """A table that a handed pointer points to is no constant, so a constant pointer to it must be handed too."""
        while True:
            self.found = {use.key: self._classify(use) for use in uses}
            handed = [key for key, pointer in self.found.items() if pointer.how == "handed"]
            targets = {t for key in handed for t in self._points_to.contents(key)}
            pinned = frozenset(t for t in targets if self._known.symbol(t) is not None)
            if pinned == self.pinned:
                return
            self.pinned |= pinned

    def _classify(self, use: Use) -> PlacedPointer:
        symbol = self._known.symbol(use.key)
        targets = self._points_to.contents(use.key)
        if symbol is None:
            return PlacedPointer("handed")
        own = {t for t in targets if self._classes.get(t) in _OWN}
        if own:
            return self._own(use, symbol, targets - own)
        if self._known.constant(use.key, symbol) and not targets & (self.pinned | self._textures):
            init = self._known.constant_init(use.key, symbol)
            return PlacedPointer("constant", "its initialiser is known and nobody writes it", init)
        return self._handed(use, targets)

    def _own(self, use: Use, symbol: ir.Symbol, others: set[Object]) -> PlacedPointer:
        init = self._only_value(use.key, symbol)
        if init is not None and self.own_value(use.key, init):
            return PlacedPointer("own", "points into the thread's own memory", init)
        name = use.name.split("$")[0]
        text = f"'{name}' points to a variable that the loop writes, and is set in more than one way before it"
        if others:
            text = f"'{name}' may point to a variable that the loop writes, or to another one"
        return PlacedPointer("own", "", None, code="HD247", problem=f"{text}; use the variable itself in the loop")

    def _only_value(self, key: Object, symbol: ir.Symbol) -> ir.Init | None:
        """The one value of a pointer; of `q = p` that of p."""
        seen = {key}
        init = self._known.only_value(key, symbol)
        while isinstance(inner := ir_walk.uncast(init), ir.Name) and isinstance(inner.type, ctype.Pointer):
            key = self._points_to.key(self._program.region.function, inner.name)
            other = self._known.symbol(key)
            if other is None or key in seen:
                return None
            seen.add(key)
            init = self._known.only_value(key, other)
        return init

    def own_value(self, key: Object, init: ir.Init) -> bool:
        """Can the kernel make this value: of constants, of its own objects' addresses, of one allocation?"""
        if isinstance(init, ir.Fill):
            return all(self.own_value(key, item) for _, item in init.items)
        for node in ir_walk.walk(init):
            if isinstance(node, ir.Call):
                if ir.called(node) not in _ALLOCATES or not _is_call(init):
                    return False
                site = self._points_to.sites.get(node.number)
                return site is not None and self._classes.get(site) in _OWN
            if isinstance(node, ir.Name) and not self._own_name(node):
                return False
            if isinstance(node, (ir.Assign, ir.Step, ir.Deref, ir.Compound, ir.Conditional)):
                return False
        return all(not isinstance(n, (ir.Index, ir.Member, ir.Name)) or _addressed(init) for n in ir_walk.walk(init))

    def _own_name(self, node: ir.Name) -> bool:
        key = self._points_to.key(self._program.region.function, node.name)
        return self._classes.get(key) in _OWN and isinstance(node.type, (ctype.Array, ctype.Struct, ctype.Int, ctype.Float))

    def _handed(self, use: Use, targets: set[Object]) -> PlacedPointer:
        name = use.name.split("$")[0]
        text = isinstance(use.type, ctype.Pointer) and isinstance(use.type.to, ctype.Int) and use.type.to.bits == 8
        literal = any(map(is_literal, targets))
        problem = ""
        if UNKNOWN in targets:
            problem = f"what '{name}' points to is not known"
        elif any(isinstance(t, Code) for t in targets) and not only_code(targets):
            problem = f"'{name}' points to a function, or to something else"
        elif (literal or EXTERNAL in targets) and not text:
            problem = f"'{name}' ({use.type}) points to memory of the system; copy what the loop needs before it"
        elif literal and self._long_literal():
            problem = f"'{name}' may point to a string literal that holds a zero byte; use an array"
        elif RECORD in targets:
            problem = f"'{name}' may point into the line that the loop reads"
        return PlacedPointer("handed", string=literal or EXTERNAL in targets, code="HD249" if problem else "",
                             problem=problem)

    def _long_literal(self) -> bool:
        """Does a literal go on behind its first zero byte, so that its length cannot be told from a pointer?"""
        return any(isinstance(n, ir.Str) and b"\0" in n.data for _, body in ir_walk.bodies(self._program)
                   for n in ir_walk.walk(body))

    # ------------------------------------------------------------------------------------- memory

    def owner(self, key: Object) -> Object | None:
        """A pointer that is set once, to this allocation: its scratch memory."""
        owners = [k for k, p in self.found.items() if p.how == "own" and p.init is not None
                  and any(self._points_to.sites.get(n.number) == key for n in ir_walk.walk(p.init))]
        return owners[0] if owners else None

    def base(self, key: Object) -> Object | None:
        """A variable that only ever holds NULL or the start of an allocation, this one among them."""
        program = self._program
        function = program.enclosing
        for symbol in (*function.params, *function.locals, *program.globals):
            own = self._points_to.key(function.name, symbol.name)
            targets = self._points_to.contents(own)
            if key in targets and all(isinstance(t, Heap) for t in targets) and self._starts(own, symbol):
                return own
        return None

    def _starts(self, key: Object, symbol: ir.Symbol) -> bool:
        values = [w.value for w in self._known.writers.of(key)] + ([symbol.init] if symbol.init is not None else [])
        return bool(values) and all(v is not None and (_is_call(v) or _zero(v)) for v in values)


def _is_call(value: ir.Init) -> bool:
    inner = ir_walk.uncast(value)
    return isinstance(inner, ir.Call) and ir.called(inner) in _ALLOCATES


def _zero(value: ir.Init) -> bool:
    inner = ir_walk.uncast(value)
    return isinstance(inner, ir.Const) and inner.value == 0


def _addressed(init: ir.Init) -> bool:
    """Is the value an address of something, and not something's content?"""
    inner = ir_walk.uncast(init)
    if isinstance(inner, ir.Binary):
        return _addressed(inner.left) or _addressed(inner.right)
    return isinstance(inner, (ir.Decay, ir.AddressOf))
