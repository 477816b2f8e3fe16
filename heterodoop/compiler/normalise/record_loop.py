"""Pass `record_loop`: the region's reading loop, in any spelling, becomes a RecordLoop whose condition reads.

    while ((n = getline(&line, &cap, stdin)) > 0) ...      for (; fgets(buf, 100, stdin); i++) ...
    while (1) { n = getline(...); if (n == -1) break; ... }     while (scanf("%s %d", word, &val) == 2) ...

The test is by value: with the read's result put in, the condition must be false at the end of input and true for
every record; a condition that depends on anything else is another loop. A loop that is none leaves a reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...manifest import Reason
from ..ir import build, formats, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import reached
from ..types import ctype
from ..types.ctype import Int, Pointer
from . import end_tests

BYTE_READERS = frozenset(
    {"getchar", "getc", "fgetc", "getchar_unlocked", "getc_unlocked", "fread", "fread_unlocked", "gets", "read"}
)
_ADDRESS = 0x7F0000001000  # stands for a buffer's address where fgets returns it
Read = ir.ReadRecord | ir.ReadPair


def recognise(program: ir.Program) -> ir.Program:
    """The program with its record loop in normal form, or with the reason why there is none."""
    region = program.region
    tokens = isinstance(region, ir.MapRegion)
    for number, stmt in enumerate(region.body.body):
        found = _loop(stmt, tokens) or (_asking(program, stmt) if tokens else None)
        if found is not None:
            rest = region.body.body[number + 1 :]
            body = ir.Block((*region.body.body[:number], *found, *rest), span=region.body.span)
            return replace(program, region=replace(region, body=body))
    return replace(program, refusals=(*program.refusals, _reason(program)))


def _asking(program: ir.Program, stmt: ir.Stmt) -> list[ir.Stmt] | None:
    """Of a mapper's loop that asks for the end of the input, or does so in the end."""
    loop = end_tests.endless(program, stmt) if stmt is program.region.body.body[-1] else None
    found = _loop(loop, tokens=True) if loop is not None else None
    return found if found is not None and end_tests.same_behind(program, found) else None


def reads(node: Any) -> list[Read]:
    return [n for n in ir_walk.walk(node) if isinstance(n, (ir.ReadRecord, ir.ReadPair))]


def _reason(program: ir.Program) -> Reason:
    region = program.region
    for node in ir_walk.walk(region.body):
        if isinstance(node, ir.Call) and ir.called(node) in BYTE_READERS:
            text = f"the input is read by {ir.called(node)}: a record is a line (getline, fgets) or a word (scanf \"%s\")"
            return Reason("HD228", text, node.span)
        if isinstance(node, ir.Opaque):
            return Reason("HD228", f"the region's loop cannot be analysed: {_advice(region)}", node.span)
    found = reads(region.body)
    for name in [] if found else sorted(reached(program, region.body) - {region.function}):
        for read in reads(program.by_name[name].body):
            text = f"the records are read in {name}(): call getline, fgets or scanf in the loop's condition"
            return Reason("HD228", text, read.span)
    if not found:
        place = region.body.span if region.body.span.line else region.span
        return Reason("HD228", f"the region reads no records from stdin: {_advice(region)}", place)
    text = "no loop of the region reads one record per round and ends just at the end of the input"
    if end_tests.asks(region.body):
        text = "feof() is true only after a read has met the end, so what follows a read runs once more without a record"
    return Reason("HD228", f"{text}: {_advice(region)}", found[0].span)


def _advice(region: ir.MapRegion | ir.CombineRegion) -> str:
    """What to write instead."""
    if isinstance(region, ir.MapRegion):
        return "write while (getline(&line, &size, stdin) != -1), and test anything else inside the loop"
    return 'write while (scanf("%31s %d", key, &value) == 2) or a loop of getline, and test anything else inside it'


def _loop(stmt: ir.Stmt, tokens: bool) -> list[ir.Stmt] | None:
    """What stands in a statement's place: declarations that move before the loop, then the RecordLoop."""
    if isinstance(stmt, ir.While):
        return _normal([], stmt.cond, None, stmt.body, stmt, tokens)
    if isinstance(stmt, ir.For):
        before = [stmt.init] if stmt.init is not None else []
        return _normal(before, stmt.cond, stmt.step, stmt.body, stmt, tokens)
    if isinstance(stmt, ir.Block) and stmt.body and isinstance(stmt.body[-1], ir.For) and stmt.body[-1].init is None:
        loop = stmt.body[-1]  # a `for` with several declarations
        if all(isinstance(s, ir.Decl) for s in stmt.body[:-1]):
            return _normal(list(stmt.body[:-1]), loop.cond, loop.step, loop.body, loop, tokens)
    return None


def _normal(
    before: list[ir.Stmt], cond: ir.Expr | None, step: ir.Expr | None, body: ir.Block, loop: ir.Stmt, tokens: bool,
) -> list[ir.Stmt] | None:
    if cond is None or (isinstance(cond, ir.Const) and cond.value != 0):
        peeled = _peel(body)
        if peeled is None:
            return None
        moved, cond, body = peeled
        before = before + moved
    if not is_record_condition(cond, tokens):
        return None
    return [*before, ir.RecordLoop(cond, step, body, span=loop.span)]


def _peel(body: ir.Block) -> tuple[list[ir.Stmt], ir.Expr, ir.Block] | None:
    """`{ decls; n = read; if (n == -1) break; rest }` -> decls, condition, rest."""
    moved: list[ir.Stmt] = []
    pending: ir.Assign | None = None
    for number, stmt in enumerate(body.body):
        if isinstance(stmt, ir.If):
            rest = body.body[number + 1 :]
            return _peel_test(moved, pending, stmt, rest, body)
        if pending is not None:
            return None
        if isinstance(stmt, ir.Decl) and stmt.length is None and (stmt.init is None or reads(stmt.init)):
            moved.append(replace(stmt, init=None))
            pending = _as_assignment(stmt)
            if stmt.init is not None and pending is None:
                return None
        elif isinstance(stmt, ir.ExprStmt) and isinstance(stmt.expr, ir.Assign) and reads(stmt.expr):
            pending = stmt.expr
        else:
            return None
    return None


def _as_assignment(decl: ir.Decl) -> ir.Assign | None:
    if not isinstance(decl.init, ir.Expr):
        return None
    target = ir.Name(decl.init.type, decl.name, span=decl.span)
    return build.assign("=", target, decl.init, decl.span)


def _peel_test(
    moved: list[ir.Stmt], pending: ir.Assign | None, test: ir.If, rest: tuple[ir.Stmt, ...], body: ir.Block,
) -> tuple[list[ir.Stmt], ir.Expr, ir.Block] | None:
    if len(test.then.body) != 1 or not isinstance(test.then.body[0], ir.Break):
        return None
    cond = test.cond
    if pending is not None:
        if reads(cond):
            return None
        cond = build.comma(pending, cond, test.span)
    other = test.other.body if test.other is not None else ()
    inner = ir.Block((*((ir.Block(other),) if other else ()), *rest), span=body.span)
    return moved, build.unary("!", cond, test.span), inner


# ------------------------------------------------------------------------------------------ the test by value


def is_record_condition(cond: ir.Expr, tokens: bool) -> bool:
    """False at the end of the input, true for each record, whatever else is in the program.

    tokens  a mapper: of the scanf formats only one plain string will do, since a token never crosses a line's end.
    """
    found = reads(cond)
    if len(found) != 1:
        return False
    read = found[0]
    end, records = _results(read, cond, tokens)
    if not records:
        return False
    return truth(cond, read, end) is False and all(truth(cond, read, r) is True for r in records)


def _results(read: Read, cond: ir.Expr, tokens: bool) -> tuple[int, list[int]]:
    """What the call returns at the end of input, and samples of what it returns otherwise, around every constant."""
    if isinstance(read, ir.ReadPair):
        stored = sum(s.stores and s.letter != "n" for s in formats.split_scanf(read.format) or [])
        if tokens and not is_token_format(read.format):
            return -1, []
        return -1, [stored] if stored else []
    if read.kind == "fgets":
        return 0, [_ADDRESS]
    constants = [n.value for n in ir_walk.walk(cond) if isinstance(n, ir.Const) and isinstance(n.value, int)]
    near = {c + d for c in constants for d in (-1, 0, 1)}
    return -1, sorted({1, 2, 3, 1 << 20, (1 << 31) - 1} | {n for n in near if 1 <= n < 1 << 31})


def is_token_format(text: bytes) -> bool:
    """One `%s` or `%Ns`, with white space around it or not."""
    parts = [p for p in formats.split_scanf(text) or [] if p.letter != " "]
    trailing = text[-1:].isspace()
    return len(parts) == 1 and parts[0].letter == "s" and parts[0].stores and not parts[0].length and not trailing


def truth(cond: ir.Expr, read: Read, result: int) -> bool | None:
    """The condition's outcome when the read gives `result`; None where it depends on anything else."""
    try:
        return bool(_Evaluator(read, result).value(cond))
    except _Unknown:
        return None


class _Unknown(Exception):
    pass


class _Evaluator:
    def __init__(self, read: Read, result: int) -> None:
        self._read, self._result = read, result
        self._known: dict[str, int] = {}

    def value(self, node: ir.Expr) -> int:
        if node is self._read:
            return self._result
        if isinstance(node, ir.Const) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ir.Name) and node.name in self._known:
            return self._known[node.name]
        if isinstance(node, ir.Cast):
            return self._cast(node.type, self.value(node.operand))
        if isinstance(node, ir.Assign) and node.op == "=" and isinstance(node.target, ir.Name):
            self._known[node.target.name] = self.value(node.value)
            return self._known[node.target.name]
        if isinstance(node, ir.Comma):
            self.value(node.first)
            return self.value(node.second)
        if isinstance(node, ir.Unary):
            folded = build.unary(node.op, self._const(node.operand), node.span)
            return self._folded(folded)
        if isinstance(node, ir.Binary):
            return self._binary(node)
        raise _Unknown

    def _binary(self, node: ir.Binary) -> int:
        if node.op in build.LOGICAL:
            left = bool(self.value(node.left))
            return int(left) if left == (node.op == "||") else int(bool(self.value(node.right)))
        left_const, right_const = self._const(node.left), self._const(node.right)
        if isinstance(node.left.type, Pointer) and node.op in ("==", "!="):
            return int((left_const.value == right_const.value) == (node.op == "=="))
        return self._folded(build.binary(node.op, left_const, right_const, node.span))

    def _const(self, node: ir.Expr) -> ir.Const:
        return ir.Const(node.type, self.value(node))

    def _folded(self, node: ir.Expr) -> int:
        if isinstance(node, ir.Const) and isinstance(node.value, int):
            return node.value
        raise _Unknown

    def _cast(self, kind: ctype.CType, value: int) -> int:
        if isinstance(kind, Int):
            return ctype.wrap(kind, value)
        if isinstance(kind, Pointer):
            return value
        raise _Unknown
