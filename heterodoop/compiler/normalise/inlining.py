"""Calls of the program's own functions as the statements that they are, where a pass needs to see through them.

    n = next(buf, 99) with int next(char *s, int m) { if (!fgets(s, m, stdin)) return 0; s[0] = 'x'; return 1; }
    ->  int next$2; if (!fgets(buf, 99, stdin)) { next$2 = 0; } else { buf[0] = 'x'; next$2 = 1; }  n = next$2

Parameters that the function never changes stand for their arguments where these are plain. A function that returns from a
loop or switch, or whose paths meet again behind a return, is left as it is. Not here: which calls are wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype


class NotInlined(Exception):
    """A function with a shape that has no form as statements in the place of a call."""


class Names:
    """Names for new variables of the region's function, and these variables."""

    def __init__(self, program: ir.Program) -> None:
        function = program.enclosing
        self._taken = {s.name for s in (*program.globals, *program.externs, *function.params, *function.locals)}
        self._taken |= set(program.by_name)
        self.made: list[ir.Symbol] = []

    def new(self, symbol: ir.Symbol) -> ir.Symbol:
        """A local variable as `symbol`, under a name of its own."""
        base = symbol.name.partition("$")[0]
        name = next(n for i in count(2) if (n := f"{base}${i}") not in self._taken)
        self._taken.add(name)
        self.made.append(replace(symbol, name=name, storage="local", const=False))
        return self.made[-1]


def with_region(program: ir.Program, body: ir.Block, made: Iterable[ir.Symbol] = ()) -> ir.Program:
    """The program with another body of its region, in which variables may be new or gone."""
    function = program.enclosing
    known = {s.name: s for s in (*function.locals, *made)}
    order = tuple(known[name] for name in declared(function.body, body))
    function = replace(function, locals=order)
    functions = tuple(function if f.name == function.name else f for f in program.functions)
    return replace(program, functions=functions, region=replace(program.region, body=body))


def declared(node: ir.Node, region: ir.Block | None) -> Iterator[str]:
    """Names in the order in which `lower` and `ir.read` come by them: an else before its then."""
    if isinstance(node, ir.Decl):
        yield node.name
    elif isinstance(node, ir.RegionHere) and region is not None:
        yield from declared(region, None)
    parts = [part for part in ir_walk.children(node) if isinstance(part, ir.Stmt)]
    for part in reversed(parts) if isinstance(node, ir.If) else parts:
        yield from declared(part, region)


def inlined(function: ir.Function, call: ir.Call, names: Names) -> tuple[list[ir.Stmt], ir.Expr]:
    """What a call of the function does, and its value. Raises NotInlined."""
    if function.type.variadic or function.type.result == ctype.VOID or len(call.args) != len(function.params):
        raise NotInlined
    if any(isinstance(n, (ir.Label, ir.Goto, ir.Opaque)) for n in ir_walk.walk(function.body)):
        raise NotInlined
    result = names.new(ir.Symbol(function.name, function.name, function.type.result, "local", span=call.span))
    before, renamed = _arguments(function, call, names)
    stmts = _returning(list(_renamed(function.body, renamed).body), result)
    value = ir.Name(result.type, result.name, span=call.span)
    return [ir.Decl(result.name, span=call.span), *before, *stmts], value


def _arguments(function: ir.Function, call: ir.Call, names: Names) -> tuple[list[ir.Stmt], dict[str, ir.Expr]]:
    """Declarations of the parameters, and what stands for each of the function's variables."""
    before: list[ir.Stmt] = []
    renamed: dict[str, ir.Expr] = {}
    changed = {target.name for n in ir_walk.walk(function.body)
               if isinstance(target := ir_walk.changed(n), ir.Name)}
    for param, arg in zip(function.params, call.args, strict=True):
        if param.name not in changed and _plain(arg):
            renamed[param.name] = arg
        else:
            symbol = names.new(param)
            before.append(ir.Decl(symbol.name, arg, span=call.span))
            renamed[param.name] = ir.Name(symbol.type, symbol.name, span=call.span)
    for local in function.locals:
        symbol = names.new(local)
        renamed[local.name] = ir.Name(symbol.type, symbol.name, span=local.span)
    return before, renamed


def _plain(arg: ir.Expr) -> bool:
    """Is it the same wherever it is evaluated: a number, an array, the address of a variable, a stream?"""
    inner = ir_walk.uncast(arg)
    if isinstance(inner, (ir.Decay, ir.AddressOf)):
        return isinstance(inner.operand, (ir.Name, ir.Str))
    return isinstance(inner, ir.Const) or (isinstance(inner, ir.Name) and inner.name == "stdin")


def _renamed(body: ir.Block, renamed: dict[str, ir.Expr]) -> ir.Block:
    def change(node: ir.Node) -> ir.Node:
        if isinstance(node, ir.Name) and node.name in renamed:
            return replace(ir_walk.copied(renamed[node.name]), span=node.span)
        if isinstance(node, ir.Decl) and node.name in renamed:
            target = renamed[node.name]
            assert isinstance(target, ir.Name)
            return replace(node, name=target.name, number=ir.Numbered().number)
        return _folded(replace(node, number=ir.Numbered().number))

    return ir_walk.rewrite(body, change)


def _folded(node: ir.Node) -> ir.Node:
    """A number where all operands have become numbers."""
    if isinstance(node, ir.Cast):
        return build.cast(node.type, node.operand, node.span)
    if isinstance(node, ir.Unary):
        return build.unary(node.op, node.operand, node.span)
    if isinstance(node, ir.Binary):
        return build.binary(node.op, node.left, node.right, node.span)
    if isinstance(node, ir.Conditional):
        return build.conditional(node.cond, node.then, node.other, node.span)
    return node


def _returning(stmts: list[ir.Stmt], result: ir.Symbol) -> list[ir.Stmt]:
    """The statements with an assignment in the place of each return, such that nothing follows it."""
    for at, stmt in enumerate(stmts):
        if not _returns(stmt):
            continue
        before, rest = stmts[:at], stmts[at + 1 :]
        if isinstance(stmt, ir.Return):
            if stmt.value is None:
                raise NotInlined
            target = ir.Name(result.type, result.name, span=stmt.span)
            return [*before, ir.ExprStmt(build.assign("=", target, stmt.value, stmt.span), span=stmt.span)]
        if isinstance(stmt, ir.Block):
            return [*before, *_returning([*stmt.body, *rest], result)]
        if not isinstance(stmt, ir.If):
            raise NotInlined
        return [*before, _chosen(stmt, rest, result)]
    return stmts


def _chosen(stmt: ir.If, rest: list[ir.Stmt], result: ir.Symbol) -> ir.Stmt:
    then, other = list(stmt.then.body), list(stmt.other.body) if stmt.other is not None else []
    falls = [_falls(part) for part in (then, other)]
    if all(falls) and rest:
        raise NotInlined
    then, other = (_returning([*part, *(rest if goes_on else [])], result)
                   for part, goes_on in zip((then, other), falls, strict=True))
    block = ir.Block(tuple(other), span=stmt.span)
    return replace(stmt, then=replace(stmt.then, body=tuple(then)), other=block if other else None)


def _returns(stmt: ir.Stmt) -> bool:
    return any(isinstance(n, ir.Return) for n in ir_walk.walk(stmt))


def _falls(stmts: list[ir.Stmt]) -> bool:
    """May the end of the statements be reached?"""
    return not any(_ends(stmt) for stmt in stmts)


def _ends(stmt: ir.Stmt) -> bool:
    if isinstance(stmt, ir.Block):
        return not _falls(list(stmt.body))
    if isinstance(stmt, ir.If):
        return stmt.other is not None and _ends(stmt.then) and _ends(stmt.other)
    return isinstance(stmt, ir.Return)


def replaced(node: ir.Stmt, call: ir.Call, value: ir.Expr) -> ir.Stmt:
    """A statement with another expression in a call's place."""
    return ir_walk.rewrite(node, lambda part: value if part.number == call.number else part)
