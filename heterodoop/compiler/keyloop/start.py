"""What a combiner's variables hold when its region begins, as far as the code before it says so plainly."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.objects import Local, Object, variable
from ..ir import ir
from ..ir import walk as ir_walk
from ..normalise.stdio import literal
from ..types import ctype
from . import algebra, loop
from .state import NoKeyLoop, RunState, placed
from .terms import ZERO, Const, Num, Term, TextTerm

_QUIET = frozenset({"malloc", "calloc", "memset", "strcpy", "setvbuf", "getenv", "atoi", "atol", "strtol", "strlen"})


def before(program: ir.Program) -> list[ir.Stmt]:
    """Statements of the enclosing function that stand before the region; it must be a plain statement of the body."""
    out: list[ir.Stmt] = []
    for stmt in program.enclosing.body.body:
        if isinstance(stmt, ir.RegionHere):
            return out
        out.append(stmt)
    raise NoKeyLoop


def start_state(program: ir.Program, *, prints: bool = False) -> tuple[RunState, bytes]:
    """Constants and empty strings; and what is printed, which is nothing but where that is allowed (`prints`).

    Raises Refused where the code before the region reads, prints else, may end the process, or calls the unknown.
    """
    prologue, head = before(program), b""
    for stmt in prologue:
        text = _plain_output(stmt) if prints else None
        if text is None:
            _check_quiet(stmt)
        head += text or b""
    state = RunState()
    for symbol in program.enclosing.locals:
        term, content = _local(program, symbol, prologue)
        key = Local(program.region.function, symbol.name)
        state.terms[key], state.contents[key] = term, content
    for symbol in program.globals:
        if not _mentions(prologue, symbol.name):
            other = variable(program, "", symbol.name)
            state.terms[other] = _constant(symbol.init) if symbol.init is not None else _zero(symbol.type)
            state.contents[other] = TextTerm.EMPTY if _empty(symbol.init, True) else None
    return state, head


def _plain_output(stmt: ir.Stmt) -> bytes | None:
    """What a statement prints that does nothing else."""
    call = ir_walk.uncast(stmt.expr) if isinstance(stmt, ir.ExprStmt) else None
    if not isinstance(call, ir.Emit) or not all(isinstance(piece, ir.Text) for piece in call.pieces):
        return None
    return b"".join(piece.data for piece in call.pieces if isinstance(piece, ir.Text))


_LOUD = (ir.Emit, ir.Stderr, ir.Exit, ir.Return, ir.ReadRecord, ir.ReadPair, ir.Opaque, ir.Goto, ir.Label)


def _check_quiet(stmt: ir.Stmt) -> None:
    with placed(stmt.span):
        for node in ir_walk.walk(stmt):
            if isinstance(node, _LOUD):
                raise NoKeyLoop("the code before its loop prints, reads, or may end the process")
            if isinstance(node, ir.Call) and ir.called(node) not in _QUIET:
                raise NoKeyLoop(f"the code before its loop calls {ir.called(node) or 'a function'}()")


def _local(program: ir.Program, symbol: ir.Symbol, prologue: list[ir.Stmt]) -> tuple[Term, TextTerm | None]:
    """A local's last plain assignment, where nothing else in the prologue touches it."""
    term: Term = None
    content: TextTerm | None = None
    for stmt in prologue:
        if isinstance(stmt, ir.Decl):
            if stmt.name == symbol.name:
                term = _constant(stmt.init)
                if algebra.is_numbers(symbol.type) and isinstance(stmt.init, ir.Fill) and zeroed(stmt.init):
                    term = _zero(symbol.type)
                content = TextTerm.EMPTY if isinstance(symbol.type, ctype.Array) and _empty(stmt.init, False) else None
                continue
        assigned = _plain_assignment(stmt, symbol.name)
        if algebra.is_numbers(symbol.type) and _mentions([stmt], symbol.name):
            term = _zero(symbol.type) if _zeroes(program, stmt, symbol) else None
        elif assigned is not None:
            term, content = assigned
        elif _mentions([stmt], symbol.name) and _may_change(stmt, symbol):
            term, content = None, None
    return term, content


def _may_change(stmt: ir.Stmt, symbol: ir.Symbol) -> bool:
    """Does a statement that mentions a variable do more than read a plain value of it?"""
    if isinstance(symbol.type, (ctype.Array, ctype.Struct)):
        return True
    for node in ir_walk.walk(stmt):
        target = ir_walk.changed(node)
        if isinstance(target, ir.Name) and target.name == symbol.name:
            return True
    return False


def _plain_assignment(stmt: ir.Stmt, name: str) -> tuple[Term, TextTerm | None] | None:
    """`name = constant;`, `name[0] = 0;`, `strcpy(name, "");`, `memset(name, 0, ...)`, chained assignments too."""
    if not isinstance(stmt, ir.ExprStmt):
        return None
    expr = stmt.expr
    if isinstance(expr, ir.Call) and ir.called(expr) in ("strcpy", "memset") and _array_name(expr.args[0]) == name:
        second = expr.args[1]
        empty = literal(second) == b"" if ir.called(expr) == "strcpy" else isinstance(second, ir.Const) and second.value == 0
        long_enough = ir.called(expr) == "strcpy" or (isinstance(expr.args[2], ir.Const) and int(expr.args[2].value) > 0)
        return (None, TextTerm.EMPTY) if empty and long_enough else None
    while isinstance(expr, ir.Assign) and expr.op == "=":
        value = _last_value(expr)
        target = expr.target
        if isinstance(target, ir.Name) and target.name == name:
            return _constant(value), None
        if isinstance(target, (ir.Index, ir.Deref)) and _first_element(target) == name:
            return (None, TextTerm.EMPTY) if isinstance(value, ir.Const) and value.value == 0 else None
        expr = ir_walk.uncast(expr.value)
    return None


def _last_value(node: ir.Assign) -> ir.Expr:
    """The value of a chain a = b = value, converted at each step: only plain zero and equal types matter here."""
    value = node.value
    inner = ir_walk.uncast(value)
    return _last_value(inner) if isinstance(inner, ir.Assign) and inner.op == "=" else value


def _first_element(node: ir.Index | ir.Deref) -> str:
    if isinstance(node, ir.Index):
        at_start = isinstance(node.index, ir.Const) and node.index.value == 0
        return _array_name(node.base) if at_start else ""
    return _array_name(node.pointer)


def _array_name(node: ir.Expr) -> str:
    node = ir_walk.uncast(node)
    if isinstance(node, ir.Decay) and isinstance(node.operand, ir.Name):
        return node.operand.name
    return ""


def zeroed(init: ir.Fill) -> bool:
    """Are all elements zeros?"""
    return all(isinstance(value, ir.Const) and value.value == 0 and repr(value.value) != "-0.0" for _, value in init.items)


def _zeroes(program: ir.Program, stmt: ir.Stmt, symbol: ir.Symbol) -> bool:
    """Is it `memset(array, 0, sizeof array);`?"""
    call = ir_walk.uncast(stmt.expr) if isinstance(stmt, ir.ExprStmt) else None
    if not isinstance(call, ir.Call) or ir.called(call) != "memset" or _array_name(call.args[0]) != symbol.name:
        return False
    return all(isinstance(arg, ir.Const) and arg.value == wanted
               for arg, wanted in zip(call.args[1:], (0, program.layouts.size(symbol.type)), strict=True))


def _zero(kind: ctype.CType) -> Term:
    if algebra.is_numbers(kind):
        return Num(loop.Zeros(kind))  # type: ignore[arg-type]
    return Num(loop.Number(0.0, kind)) if isinstance(kind, ctype.Float) else ZERO


def _constant(init: ir.Init | None) -> Term:
    if not isinstance(init, ir.Const):
        return None
    if isinstance(init.type, ctype.Float):
        return Num(loop.Number(init.value, init.type)) if algebra.computes(init.type) and init.value == init.value else None
    return Const(init.value) if isinstance(init.value, int) and isinstance(init.type, ctype.Int) else None


def _empty(init: ir.Init | None, static: bool) -> bool:
    """Does an array's initialiser begin with a NUL?"""
    if init is None:
        return static
    if isinstance(init, ir.Str):
        return init.data == b"" or init.data[0] == 0
    return isinstance(init, ir.Fill) and begins_empty(init)


def _mentions(stmts: list[ir.Stmt], name: str) -> bool:
    return any(name in ir_walk.names(s) for s in stmts)


def zeroed_arrays(program: ir.Program) -> frozenset[Object]:
    """Arrays whose initialiser leaves zeros behind what it gives, and that no single element is ever written in again.

    strncpy(a, key, sizeof a - 1) keeps their last NUL.
    """
    return frozenset(_zeroed(program))


def _zeroed(program: ir.Program) -> Iterator[Object]:
    function = program.enclosing
    for node in ir_walk.walk(function.body):
        if isinstance(node, ir.Decl) and _empty(node.init, False):
            symbol = function.symbol(node.name)
            if symbol is not None and isinstance(symbol.type, ctype.Array):
                yield Local(function.name, node.name)
    arrays = (s for s in program.globals if isinstance(s.type, ctype.Array) and _empty(s.init, True))
    yield from (variable(program, "", s.name) for s in arrays)


def begins_empty(init: ir.Fill) -> bool:
    """Does a list of elements begin with a zero?"""
    first = next((v for path, v in init.items if path == (0,)), None)
    return first is None or (isinstance(first, ir.Const) and first.value == 0)
