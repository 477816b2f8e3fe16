"""The code behind a mapper's region: does anything of it show, and what may it not use, as the region did not run before it?

Where it prints, or reads what records gather, it runs once per task as a program of its own, the epilogue: the user's main()
with the totals of the task in the region's place. All that the code before the region made is there, as in the filter. What
the region's last record left is not: a use of that is refused, unless the variable surely got another value first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...manifest import Reason
from ...values import dataclass
from ..analysis.objects import ERRNO, STRTOK, Object
from ..analysis.points_to import PointsTo
from ..analysis.uses import Use, UseTable
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from .refusals import split

_AT_ITS_END = frozenset({"feof", "ferror", "clearerr", "fclose"})  # calls that find stdin as the filter does behind its loop
_GIVES_BACK = frozenset({"free", "fclose"})


@dataclass(frozen=True)
class Epilogue:
    """`needed`: something of the code behind the region shows. `refusals`: why it cannot run without the region.
    `prints`: it may print pairs."""

    needed: bool
    refusals: tuple[Reason, ...] = ()
    prints: bool = False


def decide(program: ir.Program, table: UseTable, calls: CallGraph) -> Epilogue:
    """About a mapper's; a combiner's flush is a part of its region."""
    if not isinstance(program.region, ir.MapRegion):
        return Epilogue(False)
    return _Behind(program, table, calls).decide()


def text(found: Epilogue) -> str:
    reasons = "".join(f"{r.place or '-'}: [{r.code}] {r.message}\n" for r in found.refusals)
    return f"{'runs behind each task' if found.needed else 'nothing shows'}\n{reasons}"


class _Behind:
    def __init__(self, program: ir.Program, table: UseTable, calls: CallGraph) -> None:
        self._program, self._points_to = program, table.points_to
        self._uses = table.uses
        self._gathered = {u.key for u in table.uses if u.cls == "accumulator"}
        self._written = {u.key: u for u in table.uses if u.write is not None and u.cls != "accumulator"}
        late = split(program.enclosing.body)[1]
        called = calls.named(n.name for n in late if isinstance(n, ir.Name))
        self._nodes = [(program.region.function, node) for node in late]
        self._helpers = sorted(called)
        self._nodes += [(name, node) for name in self._helpers for node in ir_walk.walk(program.by_name[name].body)]

    def decide(self) -> Epilogue:
        if not self._needed():
            return Epilogue(False)
        prints = any(isinstance(node, ir.Emit) for _, node in self._nodes)
        return Epilogue(True, tuple(dict.fromkeys([*self._left(), *self._hidden()])), prints)

    def _needed(self) -> bool:
        if any(u.cls == "accumulator" and ir.is_memory(u.name) for u in self._uses):
            return True  # a pointer that is NULL shows
        for function, node in self._nodes:
            if isinstance(node, (ir.Emit, ir.Stderr, ir.Exit)):
                return True
            if isinstance(node, ir.Return) and function == self._program.region.function and not _zero(node.value):
                return True
            if isinstance(node, ir.Expr) and touched(function, node, self._points_to) & self._gathered:
                return True
        return False

    # ------------------------------------------------------------------------------------- what the last record left

    def _left(self) -> Iterator[Reason]:
        uses = _Uses(self._program.region.function, self._points_to, self._written)
        behind = _behind(self._program.enclosing.body)
        known: frozenset[Object] = frozenset()
        jumps = any(isinstance(node, (ir.Goto, ir.Label)) for _, node in self._nodes)
        if behind is None or jumps:
            uses.flat(node for function, node in self._nodes if function == self._program.region.function)
        else:
            known = uses.block(behind, known)
        yield from uses.reasons()
        for name in self._helpers:
            inner = _Uses(name, self._points_to, self._written)
            inner.flat(ir_walk.walk(self._program.by_name[name].body))
            yield from inner.reasons()

    # ------------------------------------------------------------------------------------- hidden state

    def _hidden(self) -> Iterator[Reason]:
        """stdin has ended, and the library keeps what the loop's last calls left."""
        allowed = {n.number for _, node in self._nodes if isinstance(node, ir.Call) and ir.called(node) in _AT_ITS_END
                   for n in ir_walk.walk(node)}
        for function, node in self._nodes:
            what = ""
            if isinstance(node, ir.Name) and node.name == "stdin" and node.number not in allowed:
                what = "uses stdin"
            elif isinstance(node, ir.Call) and ir.called(node) == "strtok":
                what = "calls strtok()" if STRTOK in self._written else ""
            elif isinstance(node, (ir.Emit, ir.Stderr)) and (node.call == "perror" or any(map(_message, node.pieces))):
                what = "prints the text of errno"
            elif isinstance(node, ir.Name) and self._points_to.key(function, node.name) == ERRNO:
                what = "uses errno"
            elif isinstance(node, ir.Call) and ir.called(node) == "__errno_location":
                what = "uses errno"
            if what:
                yield Reason("HD227", f"the code after the region {what}, which the region may have left in another state",
                             node.span)


def _zero(value: ir.Expr | None) -> bool:
    return value is None or (isinstance(value, ir.Const) and value.value == 0)


def _message(piece: ir.Piece) -> bool:
    return isinstance(piece, ir.Format) and piece.spec.endswith("m")


def _behind(block: ir.Block) -> list[ir.Stmt] | None:
    """The statements behind the region, of all blocks that it stands in; None where it stands in a branch."""
    for number, stmt in enumerate(block.body):
        if isinstance(stmt, ir.RegionHere):
            return list(block.body[number + 1 :])
        inner = _behind(stmt) if isinstance(stmt, ir.Block) else None
        if inner is not None:
            return [*inner, *block.body[number + 1 :]]
    return None


def touched(function: str, node: ir.Expr, points_to: PointsTo) -> set[Object]:
    """The objects that an expression names, or has a pointer to."""
    found: set[Object] = set()
    if isinstance(node, ir.Name) and not isinstance(node.type, ctype.Func):
        found.add(points_to.key(function, node.name))
    if isinstance(node, (ir.Index, ir.Deref)):
        found |= points_to.objects(function, node)
    if isinstance(node.type, ctype.Pointer):
        found |= points_to.targets(function, node)
    return found


class _Uses:
    """Uses of what the region wrote, in a function's statements in their order. known: variables that have another value."""

    def __init__(self, function: str, points_to: PointsTo, written: Mapping[Object, Use]) -> None:
        self._function, self._points_to, self._written = function, points_to, written
        self._found: dict[Object, ir.Expr] = {}

    def reasons(self) -> Iterator[Reason]:
        for key, node in self._found.items():
            name = self._written[key].name.split("$")[0]
            yield Reason("HD227", f"the code after the region uses '{name}', which the region writes", node.span)

    def flat(self, nodes: Iterable[ir.Node]) -> None:
        """In whatever order."""
        given_back = set[int]()
        for node in nodes:
            if isinstance(node, ir.Call) and ir.called(node) in _GIVES_BACK:
                given_back |= {inner.number for inner in ir_walk.walk(node)}
            if isinstance(node, ir.Expr) and node.number not in given_back:
                self._touch(node, frozenset())

    def block(self, stmts: Iterable[ir.Stmt], known: frozenset[Object]) -> frozenset[Object]:
        for stmt in stmts:
            known = self._stmt(stmt, known)
        return known

    def _stmt(self, stmt: ir.Stmt, known: frozenset[Object]) -> frozenset[Object]:
        if isinstance(stmt, ir.Block):
            return self.block(stmt.body, known)
        if isinstance(stmt, ir.If):
            known = self._expr(stmt.cond, known)
            return self._stmt(stmt.then, known) & (self._stmt(stmt.other, known) if stmt.other is not None else known)
        if isinstance(stmt, ir.While):
            known = self._expr(stmt.cond, known)
            self._stmt(stmt.body, known)
            return known
        if isinstance(stmt, ir.For):
            known = self._stmt(stmt.init, known) if stmt.init is not None else known
            known = self._expr(stmt.cond, known) if stmt.cond is not None else known
            inside = self._stmt(stmt.body, known)
            if stmt.step is not None:  # behind a `continue` perhaps
                self._expr(stmt.step, known & inside)
            return known
        if isinstance(stmt, (ir.DoWhile, ir.Switch)):
            return self._other(stmt, known)
        return self._parts(stmt, known)

    def _other(self, stmt: ir.DoWhile | ir.Switch, known: frozenset[Object]) -> frozenset[Object]:
        """Nothing that happens inside is sure behind."""
        if isinstance(stmt, ir.Switch):
            known = self._expr(stmt.value, known)
            for inner in stmt.body.body:  # each may be where it begins
                self._stmt(inner, known)
            return known
        self._stmt(stmt.body, known)
        self._expr(stmt.cond, known)
        return known

    def _parts(self, node: ir.Numbered, known: frozenset[Object]) -> frozenset[Object]:
        """Parts in no order: each finds what was known before, and all of them have happened behind."""
        after = known
        for part in ir_walk.children(node):
            after |= self._expr(part, known) if isinstance(part, ir.Expr) else self._parts(part, known)
        if isinstance(node, ir.Decl):
            after |= {self._points_to.key(self._function, node.name)}
        return after

    def _expr(self, node: ir.Expr, known: frozenset[Object]) -> frozenset[Object]:
        if isinstance(node, ir.Call) and ir.called(node) in _GIVES_BACK:
            return known
        if isinstance(node, ir.Assign) and node.op == "=" and isinstance(node.target, ir.Name):
            return self._expr(node.value, known) | {self._points_to.key(self._function, node.target.name)}
        if isinstance(node, ir.Comma):
            return self._expr(node.second, self._expr(node.first, known))
        if isinstance(node, ir.Conditional):
            known = self._expr(node.cond, known)
            return self._expr(node.then, known) & self._expr(node.other, known)
        if isinstance(node, ir.Binary) and node.op in ("&&", "||"):
            known = self._expr(node.left, known)
            self._expr(node.right, known)
            return known
        after = self._parts(node, known)
        self._touch(node, known)
        return after

    def _touch(self, node: ir.Expr, known: frozenset[Object]) -> None:
        for key in sorted(touched(self._function, node, self._points_to) - known):
            if key in self._written:
                self._found.setdefault(key, node)
