"""Pass `accumulators`: variables that records only add to, count, or keep the least, greatest or bits in; none reads them.

    hist[c]++;   total += n;   if (n > longest) longest = n;   bits |= 1 << k;   least = v < least ? v : least;   bin[i].n++;

Integers that wrap are added in any order, so each such update becomes a node of our own, `ir.Accumulate`, and a record needs
no other one. What the variable held before the loop counts once: only what records add is gathered. The variable is read by
the code behind the region alone. Where one access in what runs for a record is none of these updates, all stay as they are,
and `near_misses` says which access that is.

Memory that was allocated before the loop is an array, where `named_memory` finds that it can be one.

A floating-point number that is compared as the program does it is the least or greatest in any order, too: a NaN is never
taken. Only where the value is zero its sign may depend on the order; the operation says which one the program keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...manifest import Accumulation
from ...source import Span
from ...values import dataclass
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from ..types.ctype import CType, Float, Int
from ..types.parts import Path, part
from . import named_memory
from .objects import Global, Object
from .points_to import PointsTo
from .pure import pure

MOST_BYTES = 64 << 20  # of a variable: each device has it three times
_ALIGN = 8  # of totals
_COMPOUND: dict[str, Accumulation] = {"+=": "sum", "-=": "sum", "&=": "and", "|=": "or", "^=": "xor"}
_BITS: dict[str, Accumulation] = {"&": "and", "|": "or", "^": "xor"}
_REAL: dict[str, Accumulation] = {"<": "first-min", "<=": "last-min", ">": "first-max", ">=": "last-max"}
_SWAPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True)
class Accumulator:
    """A variable that records only update: how, by the members that are updated; () is the variable, or an array's elements.

    place  of the first update.
    """

    ops: Mapping[Path, Accumulation]
    place: Span


@dataclass(frozen=True)
class NearMiss:
    """A variable with such updates that is none: where the first one stands, and what prevents it, with its place."""

    update: Span
    why: str
    place: Span


@dataclass(frozen=True)
class _Update:
    """`parts`: numbers of the nodes that are the variable or the element itself, the index of an element left out."""

    op: Accumulation
    target: ir.Expr
    value: ir.Expr
    parts: frozenset[int]
    place: Span


def accumulate(program: ir.Program) -> ir.Program:
    """The program with the updates of accumulators as such; the same object where there are none."""
    if not isinstance(program.region, ir.MapRegion) or ir.record_loop(program.region) is None:
        return program
    points_to, calls = PointsTo(program), CallGraph(program)
    memories = named_memory.memories(program, points_to, calls)
    while True:
        tried = named_memory.named(program, points_to, calls, memories)
        scan = _Scan(tried, points_to, calls) if tried is program else _Scan(tried, PointsTo(tried), CallGraph(tried))
        gathered = {key for key, _ in scan.updates.values() if key not in scan.why}
        kept = tuple(one for one in memories if Global(one.symbol.name) in gathered)
        if len(kept) == len(memories):
            break
        memories = kept  # the others stay what a pointer leads to
    chosen = {number: update for number, (key, update) in scan.updates.items() if key in gathered}
    return ir_walk.map_functions(tried, lambda _, node: _replaced(node, chosen)) if chosen else program


def accumulators(program: ir.Program, points_to: PointsTo, calls: CallGraph) -> dict[Object, Accumulator]:
    """The accumulators of a program, behind the pass."""
    found: dict[Object, Accumulator] = {}
    for function, body in calls.bodies:
        for node in ir_walk.walk(body):
            if isinstance(node, ir.Accumulate):
                for key in points_to.objects(function, node.target):
                    known = found.setdefault(key, Accumulator({}, node.span))
                    found[key] = Accumulator({**known.ops, _path(node.target): node.op}, known.place)
    return found


def near_misses(program: ir.Program, points_to: PointsTo, calls: CallGraph) -> Mapping[Object, NearMiss]:
    """Variables of a mapper that would be accumulators but for one thing."""
    if not isinstance(program.region, ir.MapRegion) or ir.record_loop(program.region) is None:
        return {}
    scan = _Scan(program, points_to, calls)
    first: dict[Object, Span] = {}
    for key, update in scan.updates.values():
        first.setdefault(key, update.place)
    return {key: NearMiss(first[key], *scan.why[key]) for key in first if key in scan.why}


def text(found: Mapping[Object, Accumulator]) -> str:
    """One line per accumulator."""
    return "".join(f"{key}{''.join(f'.{name}' for name in path)}: {op}, first at {one.place}\n"
                   for key, one in found.items() for path, op in one.ops.items())


def _replaced(node: ir.Node, chosen: Mapping[int, _Update]) -> ir.Node:
    update = chosen.get(node.number)
    if update is not None:
        made = ir.Accumulate(ctype.VOID, update.op, update.target, update.value, span=update.place)
        return ir.ExprStmt(made, span=node.span) if isinstance(node, ir.Stmt) else made
    return _valueless(node)


def _valueless(node: ir.Node) -> ir.Node:
    """What an update stood in gives no value any more either."""
    if isinstance(node, ir.Cast):
        without = isinstance(node.operand, ir.Accumulate) or node.operand.type == ctype.VOID != node.type
        return node.operand if without else node
    if isinstance(node, ir.Comma) and node.second.type == ctype.VOID != node.type:
        return ir.Comma(ctype.VOID, node.first, node.second, span=node.span)
    if isinstance(node, ir.Conditional) and ctype.VOID in (node.then.type, node.other.type) and node.type != ctype.VOID:
        then, other = build.cast(ctype.VOID, node.then), build.cast(ctype.VOID, node.other)
        return ir.Conditional(ctype.VOID, node.cond, then, other, span=node.span)
    return node


class _Scan:
    """updates: number of a statement or expression -> the variable, and how it is updated. why: what prevents a variable."""

    def __init__(self, program: ir.Program, points_to: PointsTo, calls: CallGraph) -> None:
        self._program, self._points_to = program, points_to
        self._inside = {n.name for n in ir_walk.walk(program.region.body) if isinstance(n, ir.Decl)}
        self.updates: dict[int, tuple[Object, _Update]] = {}
        self.why: dict[Object, tuple[str, Span]] = {}
        for function, body in calls.bodies:
            for node in ir_walk.walk(body):
                for number, update in _updates(node):
                    self._note(function, number, update)
        self._keys = {key for key, _ in self.updates.values()}
        self._parts = {part for _, update in self.updates.values() for part in update.parts}
        self._ways()
        for function, body in calls.bodies:
            for node in ir_walk.walk(body):
                self._access(function, node)

    def _note(self, function: str, number: int, update: _Update) -> None:
        root = _root(update.target)
        if root is None:
            return
        key: Object = self._points_to.key(function, root.name)
        symbol = self._points_to.symbol(key)
        outer = function == self._program.region.function and root.name not in self._inside
        if symbol is None or symbol.storage not in ("global", "static", "local") or not (isinstance(key, Global) or outer):
            return
        problem = self._problem(root.type, update)
        if problem:
            self.why.setdefault(key, (problem, update.place))
        self.updates[number] = key, update

    def _problem(self, kind: CType, update: _Update) -> str:
        """Why a variable of a type has no totals, "" where it may have."""
        path, inner = _path(update.target), update.target.type
        numbers = isinstance(inner, (Int, Float)) and inner != ctype.BOOL and inner.bits <= 64
        layouts = self._program.layouts
        if not numbers or not 0 < (layouts.size(kind) or 0) <= MOST_BYTES or layouts.align(kind) > _ALIGN:
            return f"it is of type '{kind}'"
        found = part(layouts, kind, path)
        return f"'{'.'.join(path)}' {found}" if isinstance(found, str) else ""

    def _ways(self) -> None:
        """One that is both added to and, say, kept the least of depends on the order after all."""
        ops: dict[tuple[Object, Path], Accumulation] = {}
        for key, update in self.updates.values():
            first = ops.setdefault((key, _path(update.target)), update.op)
            if first != update.op:
                self.why.setdefault(key, (f"it is updated as '{first}' and as '{update.op}'", update.place))

    def _access(self, function: str, node: ir.Node) -> None:
        """An access that is no update: by the variable's name, or through a pointer that may lead to it."""
        if node.number in self._parts or not isinstance(node, ir.Expr) or isinstance(node.type, ctype.Func):
            return
        if isinstance(node, ir.Name):
            named = self._points_to.key(function, node.name)
            if named in self._keys:
                self.why.setdefault(named, ("it is used otherwise", node.span))
        if isinstance(node.type, ctype.Pointer) and not isinstance(node, (ir.Decay, ir.AddressOf)):
            for key in self._points_to.targets(function, node) & self._keys:
                self.why.setdefault(key, ("a pointer may lead to it", node.span))


# ------------------------------------------------------------------------------------------ what an update looks like


def _updates(node: ir.Node) -> Iterator[tuple[int, _Update]]:
    """Updates that stand directly in a node, by the numbers of what they are."""
    if isinstance(node, ir.If):
        update = _kept(node)
        if update is not None:
            yield node.number, update
        return
    for one in ir_walk.unwanted(node):
        update = _update(one)
        if update is not None:
            yield one.number, update


def _update(node: ir.Expr) -> _Update | None:
    if isinstance(node, ir.Step) and isinstance(node.type, Int):
        one = ir.Const(node.type, ctype.wrap(node.type, 1 if node.op == "++" else -1))
        return _made("sum", node.target, one, [node.target], node.span)
    if isinstance(node, ir.Assign) and node.op == "=":
        return (_added(node) if isinstance(node.type, Int) else None) or _chosen(node)
    if not isinstance(node, ir.Assign) or not isinstance(node.type, Int):
        return None
    op = _COMPOUND.get(node.op)
    if op is None or not isinstance(build.compute_type(node), Int):
        return None
    value = build.unary("-", node.value, node.span) if node.op == "-=" else node.value
    return _made(op, node.target, build.cast(node.type, value), [node.target], node.span)


def _made(op: Accumulation, target: ir.Expr, value: ir.Expr, mentions: Iterable[ir.Expr], place: Span) -> _Update | None:
    parts: set[int] = set()
    for mention in mentions:
        own = _own_parts(mention)
        if own is None:
            return None
        parts |= own
    return _Update(op, target, value, frozenset(parts), place)


def _own_parts(node: ir.Expr) -> set[int] | None:
    """Numbers of a variable's or element's own nodes; None where it is reached otherwise than by the variable's name."""
    found = {node.number}
    while not isinstance(node, ir.Name):
        pointer = _pointer(node)
        if isinstance(node, ir.Member):
            node = node.base
        elif isinstance(pointer, ir.Decay):
            node = pointer.operand
            found.add(pointer.number)
        else:
            return None
        found.add(node.number)
    return found


def _root(node: ir.Expr) -> ir.Name | None:
    return node if isinstance(node, ir.Name) else _root(inner) if (inner := _around(node)) is not None else None


def _path(node: ir.Expr) -> Path:
    """The members that a variable's part is reached by."""
    inner = _around(node)
    before = _path(inner) if inner is not None else ()
    return (*before, node.field) if isinstance(node, ir.Member) else before


def _around(node: ir.Expr) -> ir.Expr | None:
    """What a member or element is one of."""
    if isinstance(node, ir.Member):
        return node.base
    pointer = _pointer(node)
    return pointer.operand if isinstance(pointer, ir.Decay) else None


def _pointer(node: ir.Expr) -> ir.Expr | None:
    return node.base if isinstance(node, ir.Index) else node.pointer if isinstance(node, ir.Deref) else None


# ------------------------------------------------------------------------------------------ x = x + e


def _added(node: ir.Assign) -> _Update | None:
    """x = x + e, x = e + x - f, x = x | e and the like."""
    assert isinstance(node.type, Int)
    whole = _low(node.value, node.type)
    if not isinstance(whole, ir.Binary) or not isinstance(whole.type, Int) or not pure(node.target):
        return None
    if whole.op in _BITS:
        for own, value in ((whole.left, whole.right), (whole.right, whole.left)):
            plain = _low(own, node.type)
            if plain == node.target:
                return _made(_BITS[whole.op], node.target, build.cast(node.type, value), [node.target, plain], node.span)
        return None
    return _sum(node, whole)


def _sum(node: ir.Assign, whole: ir.Binary) -> _Update | None:
    assert isinstance(node.type, Int)
    mentions, value = [node.target], None
    for positive, term in _terms(whole, positive=True):
        plain = _low(term, node.type)
        if len(mentions) == 1 and positive and plain == node.target:
            mentions.append(plain)
        elif value is None:
            value = term if positive else build.unary("-", term, node.span)
        else:
            value = build.binary("+" if positive else "-", value, term, node.span)
    if value is None or len(mentions) == 1:
        return None
    return _made("sum", node.target, build.cast(node.type, value), mentions, node.span)


def _terms(node: ir.Expr, *, positive: bool) -> Iterator[tuple[bool, ir.Expr]]:
    if isinstance(node, ir.Binary) and node.op in ("+", "-") and node.left.type == node.right.type == node.type:
        yield from _terms(node.left, positive=positive)
        yield from _terms(node.right, positive=positive == (node.op == "+"))
    else:
        yield positive, node


def _low(node: ir.Expr, kind: Int) -> ir.Expr:
    """What is converted between types that all hold the bits of `kind`."""
    while isinstance(node, ir.Cast) and isinstance(node.type, Int) and isinstance(node.operand.type, Int):
        if ctype.BOOL in (node.type, node.operand.type) or min(node.type.bits, node.operand.type.bits) < kind.bits:
            break
        node = node.operand
    return node


# ------------------------------------------------------------------------------------------ the least and the greatest


def _kept(node: ir.If) -> _Update | None:
    """if (v > m) m = v;"""
    stmt: ir.Stmt = node.then
    while isinstance(stmt, ir.Block) and len(stmt.body) == 1:
        stmt = stmt.body[0]
    assign = stmt.expr if isinstance(stmt, ir.ExprStmt) else None
    if node.other is not None or not isinstance(assign, ir.Assign) or assign.op != "=":
        return None
    return _extreme(node.cond, assign.target, assign.value, None, assign.span)


def _chosen(node: ir.Assign) -> _Update | None:
    """m = v > m ? v : m"""
    whole = node.value.operand if isinstance(node.value, ir.Cast) else node.value
    if not isinstance(whole, ir.Conditional) or not isinstance(whole.type, (Int, Float)):
        return None
    then, other = _exact(whole.then), _exact(whole.other)
    if then == node.target:
        return _extreme(whole.cond, node.target, other, then, node.span, chosen=False)
    if other == node.target:
        return _extreme(whole.cond, node.target, then, other, node.span)
    return None


def _extreme(
    cond: ir.Expr, target: ir.Expr, value: ir.Expr, again: ir.Expr | None, place: Span, *, chosen: bool = True,
) -> _Update | None:
    """The target becomes the value where the condition, a comparison of both, is `chosen`. again: the target once more."""
    if isinstance(target.type, Float):
        return _extreme_real(cond, target, value, again, place) if chosen else None
    value, kind = _exact(value), target.type
    if not isinstance(cond, ir.Binary) or cond.op not in _SWAPPED or not isinstance(kind, Int):
        return None
    if not isinstance(value.type, Int) or not _holds(kind, value) or not (pure(value) and pure(target)):
        return None
    for own, other, op in ((cond.right, cond.left, cond.op), (cond.left, cond.right, _SWAPPED[cond.op])):
        mention = _exact(own)
        if mention == target and _same(_exact(other), value):
            greatest = (op in (">", ">=")) == chosen
            mentions = [target, mention, *([again] if again is not None else [])]
            return _made("max" if greatest else "min", target, build.cast(kind, value), mentions, place)
    return None


def _extreme_real(
    cond: ir.Expr, target: ir.Expr, value: ir.Expr, again: ir.Expr | None, place: Span,
) -> _Update | None:
    """The same of floating-point numbers, where the value is what is compared, and nothing else is taken: no NaN."""
    if not isinstance(cond, ir.Binary) or cond.op not in _SWAPPED or not (pure(value) and pure(target)):
        return None
    for own, other, op in ((cond.right, cond.left, cond.op), (cond.left, cond.right, _SWAPPED[cond.op])):
        if own == target and other == value and value.type == target.type:
            mentions = [target, own, *([again] if again is not None else [])]
            return _made(_REAL[op], target, value, mentions, place)
    return None


def _exact(node: ir.Expr) -> ir.Expr:
    """What is converted to types that hold all of its values."""
    while isinstance(node, ir.Cast) and isinstance(node.type, Int) and isinstance(node.operand.type, Int):
        if not _keeps(node.operand.type, node.type):
            break
        node = node.operand
    return node


def _keeps(old: Int, new: Int) -> bool:
    if new == ctype.BOOL:
        return old == ctype.BOOL
    return new.bits >= old.bits if new.signed == old.signed else new.signed and new.bits > old.bits


def _holds(kind: Int, value: ir.Expr) -> bool:
    """Has the type all values of what is kept?"""
    if isinstance(value, ir.Const) and isinstance(value.value, int):
        return ctype.wrap(kind, value.value) == value.value
    return isinstance(value.type, Int) and _keeps(value.type, kind)


def _same(one: ir.Expr, other: ir.Expr) -> bool:
    """Constants are what their values are, whatever they were converted to."""
    if isinstance(one, ir.Const) and isinstance(other, ir.Const):
        return one.value == other.value
    return one == other
