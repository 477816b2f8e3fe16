"""Pass `vlas`: arrays of variable length that a record declares become pointers to memory of its arena.

`char a[n]` is `char *a = __hd_vla(a_length * sizeof(char))`, and ends with its block (`emit.stmt`). Those of which the
address as an array is taken (`&a`), and those that stand outside of what only records run, stay what they are (HD218).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..ir import build, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype

CALL = "__hd_vla"
_TYPE = ctype.Func(ctype.Pointer(ctype.VOID), (ctype.ULONG,), False)


def vlas(program: ir.Program) -> ir.Program:
    """The same object where no record declares one."""
    loop = ir.record_loop(program.region)
    if loop is None or not isinstance(program.region, ir.MapRegion):
        return program
    calls = CallGraph(program)
    helpers = calls.of(loop.body) - calls.around - {program.region.function}
    names = {name: _names(program, program.by_name[name].body) for name in helpers}
    own = _names(program, loop.body)
    if not own and not any(names.values()):
        return program
    functions = tuple(_changed(f, f.body, names[f.name], program) if names.get(f.name) else f for f in program.functions)
    region = replace(program.region, body=ir_walk.rewrite(program.region.body, _rule(program, own)))
    functions = tuple(
        replace(f, locals=_retyped(f.locals, own)) if own and f.name == program.region.function else f for f in functions)
    extern = ir.Symbol(CALL, CALL, _TYPE, "extern")
    return replace(program, functions=functions, region=region, externs=(*program.externs, extern))


def _names(program: ir.Program, body: ir.Block) -> frozenset[str]:
    taken = {n.operand.name for n in ir_walk.walk(body) if isinstance(n, ir.AddressOf) and isinstance(n.operand, ir.Name)}
    return frozenset(n.name for n in ir_walk.walk(body) if isinstance(n, ir.Decl) and n.length is not None) - taken


def _changed(function: ir.Function, body: ir.Block, names: frozenset[str], program: ir.Program) -> ir.Function:
    new = ir_walk.rewrite(body, _rule(program, names))
    return replace(function, body=new, locals=_retyped(function.locals, names))


def _retyped(symbols: tuple[ir.Symbol, ...], names: frozenset[str]) -> tuple[ir.Symbol, ...]:
    return tuple(replace(s, type=ctype.decay(s.type), const=False) if s.name in names else s for s in symbols)


def _rule(program: ir.Program, names: frozenset[str]) -> Callable[[Any], Any]:
    kinds = {s.name: s.type for f in program.functions for s in f.locals if s.name in names}

    def change(node: Any) -> Any:
        if isinstance(node, ir.Decay) and isinstance(node.operand, ir.Name) and node.operand.name in names:
            return ir.Name(ctype.decay(node.operand.type), node.operand.name, span=node.span)
        if isinstance(node, ir.Decl) and node.name in names and node.length is not None:
            kind = kinds[node.name]
            assert isinstance(kind, ctype.Array)
            size = build.const(program.layouts.size(kind.of) or 1, ctype.ULONG, node.span)
            nbytes = build.binary("*", build.cast(ctype.ULONG, node.length), size, node.span)
            call = ir.Call(_TYPE.result, build.decay(ir.Name(_TYPE, CALL, span=node.span)), (nbytes,), span=node.span)
            return ir.Decl(node.name, build.cast(ctype.decay(kind), call), None, span=node.span)
        return node

    return change
