"""Pass `prune`: globals and library names that nothing mentions any more are dropped."""

from __future__ import annotations

from dataclasses import replace

from ..ir import ir
from ..ir import walk as ir_walk


def prune(program: ir.Program) -> ir.Program:
    used = ir_walk.names(program.region.body)
    for function in program.functions:
        used |= ir_walk.names(function.body)
    region = program.region
    used |= {region.key, region.value, *region.firstprivate, *region.sharedRO, *region.texture}
    if isinstance(region, ir.CombineRegion):
        used |= {region.keyin, region.valuein}
    pending = [s for s in program.globals if s.name in used]
    kept: dict[str, ir.Symbol] = {}
    while pending:
        symbol = pending.pop()
        kept[symbol.name] = symbol
        named = ir_walk.names(symbol.init) if symbol.init is not None else set()
        used |= named
        pending += [s for s in program.globals if s.name in named and s.name not in kept]
    kept_globals = tuple(s for s in program.globals if s.name in kept)
    externs = tuple(s for s in program.externs if s.name in used)
    if len(kept_globals) == len(program.globals) and len(externs) == len(program.externs):
        return program
    return replace(program, globals=kept_globals, externs=externs)
