"""What the CUDA emitter has no exact text for, by name and place: functions, conversions, types, constructs.

Looks at the region and the helpers that it reaches. A program without such reasons (and without those of the analyses and
of `placement`) is emitted; anything that fails then is a bug of ours. Non-goals: variables and their places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...manifest import Reason
from ...source import Span
from ...toolchain.cc import Libm
from ..analysis import device_calls
from ..analysis.libc_effects import EFFECTS, REFUSED
from ..analysis.points_to import RECORD, PointsTo, known_call
from ..analysis.uses import UseTable
from ..ir import formats, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import reached
from ..normalise import stdio
from ..types import ctype
from . import init, kernel
from . import output as emit_expr_output
from . import types as emit_types

_VARIABLES = frozenset({"errno", "stdin", "stdout", "stderr"})  # of the library, that the device has
_SHRINKING = frozenset({"memmove", "memcpy", "strcpy", "strtok", "strtok_r", "strsep"})  # what they write was there before


def refusals(program: ir.Program, table: UseTable, libm: Libm = "own") -> tuple[Reason, ...]:
    """Every reason once, in the order of the text. libm: whose exp, log, pow ... the CPU filters call."""
    check = _Check(program, table, libm)
    names = sorted(reached(program, program.region.body))
    found = [*check.body(program.region.function, program.region.body)]
    for name in names:
        found += [*check.function(program.by_name[name]), *check.body(name, program.by_name[name].body)]
    return tuple(dict.fromkeys([*found, *check.types(names), *check.tables(names)]))


class _Check:
    def __init__(self, program: ir.Program, table: UseTable, libm: Libm) -> None:
        self._libm: Libm = libm
        self._program, self._points_to = program, table.points_to
        self._own = program.by_name
        self._externs = {s.name for s in program.externs if s.storage == "extern"}
        self._capacity = _capacity(program, table.points_to)

    # ------------------------------------------------------------------------------------- functions

    def function(self, function: ir.Function) -> Iterator[Reason]:
        if function.type.variadic:
            yield _reason("HD235", f"{function.name}() takes a variable number of arguments", function.span)
        if function.name == self._program.region.function:
            yield _reason("HD235", f"{function.name}(), which holds the region, is called from it", function.span)

    def body(self, function: str, body: ir.Block) -> Iterator[Reason]:
        callees = {n.callee.number for n in ir_walk.walk(body) if isinstance(n, ir.Call)}
        reader = {n.number for read in _record_reads(body) for n in ir_walk.walk(read)}
        for node in ir_walk.walk(body):
            rule = _RULES.get(type(node))
            if rule is not None:
                yield from rule(self, function, node)
            if isinstance(node, ir.Decay) and isinstance(node.operand.type, ctype.Func) and node.number not in callees:
                yield _reason("HD235", "the address of a function is taken", node.span)
            if node.number not in reader and isinstance(node, ir.Name):
                yield from self._name(function, node)
            yield from _literals(node)
        yield from _errors_told(body)

    def _name(self, function: str, node: ir.Name) -> Iterator[Reason]:
        if self._points_to.key(function, node.name) in self._capacity:
            text = f"'{node.name.split('$')[0]}', the capacity of getline's buffer, is used: it depends on earlier lines"
            yield _reason("HD241", text, node.span)
        unknown = node.name in self._externs and node.name not in _VARIABLES and self._is_global(function, node.name)
        if unknown and not isinstance(node.type, ctype.Func):
            yield _reason("HD232", f"the library's variable '{node.name}' is not on the device", node.span)

    def _is_global(self, function: str, name: str) -> bool:
        return self._own[function].symbol(name) is None

    # ------------------------------------------------------------------------------------- nodes

    def call(self, function: str, node: ir.Call) -> Iterator[Reason]:
        name = ir.called(node)
        if not name:
            yield _reason("HD235", "a function is called through a pointer", node.span)
        elif name in self._own:
            return
        elif name not in REFUSED and known_call(name):
            if (why := device_calls.why_not(name, self._libm)) and not _free_of_null(node):
                yield _reason("HD234" if name in device_calls.MEMORY else "HD232", why, node.span)
            if name in ("sprintf", "snprintf"):
                yield from _conversions(emit_expr_output.string_pieces(node), node)
            if name == "sscanf":
                yield from _scan(stdio.literal(node.args[1]), node)
        yield from self._growth(function, node, name)

    def _growth(self, function: str, node: ir.Call, name: str) -> Iterator[Reason]:
        """Writing to getline's buffer more than the line: a record's slot has room for its own bytes only."""
        effect = EFFECTS.get(name)
        writes = [a.arg for a in effect.writes] if effect else [0] if name in ("sprintf", "snprintf") else []
        for number in writes:
            if number < len(node.args) and RECORD in self._points_to.targets(function, node.args[number]):
                source = node.args[1] if name in _SHRINKING and len(node.args) > 1 else None
                if source is None or self._points_to.targets(function, source) != {RECORD}:
                    text = f"{name}() writes to the line's buffer, which has room for the line only"
                    yield _reason("HD241", text, node.span)

    def output(self, function: str, node: ir.Emit | ir.Stderr) -> Iterator[Reason]:
        return _conversions(node.pieces, node)

    def read_pair(self, function: str, node: ir.ReadPair) -> Iterator[Reason]:
        return _scan(node.format, node)

    def compound(self, function: str, node: ir.Compound) -> Iterator[Reason]:
        if isinstance(node.type, ctype.Array):
            yield _reason("HD239", "an unnamed array (compound literal)", node.span)

    def address(self, function: str, node: ir.AddressOf) -> Iterator[Reason]:
        if isinstance(emit_types.root(node.operand), ir.Compound):
            yield _reason("HD239", "the address of an unnamed object (compound literal)", node.span)

    def followed(self, function: str, node: ir.Deref | ir.Index) -> Iterator[Reason]:
        pointer = ir_walk.uncast(node.pointer if isinstance(node, ir.Deref) else node.base)
        if isinstance(pointer, ir.Const):
            yield _reason("HD239", "a constant address is followed", node.span)

    def arithmetic(self, function: str, node: ir.Assign | ir.Step) -> Iterator[Reason]:
        if node.op != "=" and node.type == ctype.Pointer(ctype.VOID):
            yield _reason("HD239", f"'{node.op}' of a void pointer", node.span)

    # ------------------------------------------------------------------------------------- types and tables

    def types(self, helpers: list[str]) -> Iterator[Reason]:
        program = self._program
        for kind, span in self._typed(helpers):
            inner = kind
            while (of := ctype.element(inner)) is not None:
                inner = of
            if inner in (ctype.LDOUBLE, ctype.INT128, ctype.UINT128):
                yield _reason("HD237", f"a value of type '{inner}'", span)
        for tag in sorted(kernel.used_tags(program, helpers, [])):
            layout = program.layouts.table.get(tag)
            union = next((union for name, union, _ in program.structs if name == tag), False)
            if layout is not None and (why := emit_types.struct_problem(tag, union, program.layouts)):
                shown = tag if not tag.startswith(".") else "without a name"
                yield _reason("HD238", f"the {'union' if union else 'struct'} {shown} has {why}", program.region.span)

    def _typed(self, helpers: list[str]) -> Iterator[tuple[ctype.CType, Span]]:
        program = self._program
        bodies = [program.region.body, *(program.by_name[name].body for name in helpers)]
        for body in bodies:
            yield from ((node.type, node.span) for node in ir_walk.expressions(body))
        used = ir_walk.names(program.region.body)
        yield from ((s.type, s.span) for s in program.enclosing.locals if s.name in used)
        for name in helpers:
            function = program.by_name[name]
            yield from ((s.type, s.span) for s in (*function.params, *function.locals))

    def tables(self, helpers: list[str]) -> Iterator[Reason]:
        """Globals whose initialisers C++17 has no list for."""
        bodies = [self._program.region.body, *(self._program.by_name[name].body for name in helpers)]
        used = set().union(*(ir_walk.names(body) for body in bodies))
        for symbol in self._program.globals:
            if symbol.name in used and isinstance(symbol.init, ir.Fill):
                if not init.expressible(symbol.type, symbol.init, self._program.layouts):
                    gap = f"leaves out more than {init.MOST_HOLES} elements"
                    text = f"the initialiser of '{symbol.original}' names a union's later member or {gap}"
                    yield _reason("HD239", text, symbol.span)


def _reason(code: str, message: str, span: Span) -> Reason:
    return Reason(code, message, str(span) if span.line else "")


def _free_of_null(node: ir.Call) -> bool:
    return ir.called(node) == "free" and isinstance(node.args[0], ir.Const)


def _capacity(program: ir.Program, points_to: PointsTo) -> set[str]:
    """Keys of what getline's second argument points to."""
    loop = ir.record_loop(program.region)
    found: set[str] = set()
    for read in _record_reads(loop.cond) if loop is not None else ():
        if read.kind == "getline":
            found |= points_to.targets(program.region.function, read.capacity)
    return found


def _record_reads(node: Any) -> list[ir.ReadRecord]:
    return [n for n in ir_walk.walk(node) if isinstance(n, ir.ReadRecord)]


def _conversions(pieces: tuple[ir.Piece, ...] | None, node: ir.Expr) -> Iterator[Reason]:
    for piece in pieces or ():
        if isinstance(piece, ir.Format) and (why := emit_expr_output.problem(piece)):
            yield _reason("HD233", why, node.span)


def _scan(text: bytes | None, node: ir.Call | ir.ReadPair) -> Iterator[Reason]:
    """scanf's conversions and their targets: what is stored must be what the target holds."""
    scans = formats.split_scanf(text) if text is not None else None
    if text is None or scans is None:
        yield _reason("HD236", "the format of scanf is not known", node.span)
        return
    if any(byte >= 0x80 for byte in text):
        yield _reason("HD236", "the format of scanf has characters beyond ASCII", node.span)
    targets = list(node.args[2:] if isinstance(node, ir.Call) else node.targets)
    for item in scans:
        if item.letter in "pCS" or item.length in ("m", "L") or (item.letter in "sc[" and item.length):
            yield _reason("HD236", f"scanf's conversion '%{item.length}{item.letter}' has no device form", node.span)
        elif item.stores:
            if not targets:
                yield _reason("HD236", "scanf has fewer targets than conversions", node.span)
                return
            yield from _target(item, targets.pop(0), node)


def _target(item: formats.Scan, target: ir.Expr, node: ir.Expr) -> Iterator[Reason]:
    inner, wanted = ctype.element(target.type), item.target
    size = inner.bits if isinstance(inner, (ctype.Int, ctype.Float)) else 0
    fits = isinstance(wanted, (ctype.Int, ctype.Float)) and type(inner) is type(wanted) and size == wanted.bits
    if not fits:
        text = f"scanf's conversion '%{item.length}{item.letter}' is given a target of type '{target.type}'"
        yield _reason("HD236", text, node.span)


def _literals(node: object) -> Iterator[Reason]:
    """Local initialisers are written member by member where need be; compound literals in a brace list are not."""
    if isinstance(node, ir.Decl) and isinstance(node.init, ir.Fill):
        for _, item in node.init.items:
            if isinstance(item, ir.Expr) and isinstance(item.type, ctype.Array) and not isinstance(item, ir.Str):
                yield _reason("HD239", "an array that is initialised from another", node.span)


def _errors_told(body: ir.Block) -> Iterator[Reason]:
    """perror prints what errno means, which only the CPU's library knows; before a failure nobody sees it."""
    for block in (n for n in ir_walk.walk(body) if isinstance(n, ir.Block)):
        for number, stmt in enumerate(block.body):
            if not isinstance(stmt, ir.ExprStmt) or not _is_perror(stmt.expr):
                continue
            after = block.body[number + 1] if number + 1 < len(block.body) else None
            if not (isinstance(after, ir.ExprStmt) and isinstance(after.expr, ir.Exit)):
                yield _reason("HD232", device_calls.why_not("perror"), stmt.span)


def _is_perror(node: ir.Expr) -> bool:
    return isinstance(node, ir.Stderr) and node.call == "perror"


_RULES: dict[type, Callable[[_Check, str, Any], Iterator[Reason]]] = {
    ir.Call: _Check.call, ir.Emit: _Check.output, ir.Stderr: _Check.output, ir.ReadPair: _Check.read_pair,
    ir.Compound: _Check.compound, ir.Deref: _Check.followed, ir.Index: _Check.followed,
    ir.AddressOf: _Check.address, ir.Assign: _Check.arithmetic, ir.Step: _Check.arithmetic,
}
