"""How a kernel is launched: threads, blocks, room for pairs, stack. Pure; every number has its clause or its rule.

Not here: what needs the GPU at hand (blocks where the clause is absent, sizes of buffers): the executor's part.
"""

from __future__ import annotations

from dataclasses import fields

from ...values import dataclass
from ..ir import ir
from ..ir.call_graph import CallGraph
from ..source.clauses import WARP
from ..types import ctype
from ..types.ctype import CType
from .stack import stack_bytes

DEFAULT_THREADS = 128  # four warps: the best of the measured shapes for map kernels, 8 blocks fit a multiprocessor
_LINE_BYTES = 2  # a pair's tab and line end
_SLOT_ALIGN = 16
_NUMBER_BYTES = {8: 4, 16: 6, 32: 11, 64: 20}  # longest decimal text of an integer by its bits, sign included
_REAL_BYTES = 24  # %e or %g of a double, sign and exponent included; %f of large values needs more and gets it elsewhere


@dataclass(frozen=True)
class LaunchConfig:
    """threads of a block (a multiple of 32), blocks (0 = chosen at run time), bytes of the longest key and value text."""

    threads: int
    blocks: int
    kvpairs: int
    key_bytes: int
    value_bytes: int
    slot_bytes: int
    stack_bytes: int


def launch(program: ir.Program, calls: CallGraph) -> LaunchConfig:
    """The launch shape of a program's region."""
    region = program.region
    threads = -(-(region.threads or DEFAULT_THREADS) // WARP) * WARP
    key = text_bytes(program, region.key, region.keylength)
    value = text_bytes(program, region.value, region.vallength)
    slot = -(-(key + value + _LINE_BYTES) // _SLOT_ALIGN) * _SLOT_ALIGN
    return LaunchConfig(threads, region.blocks, region.kvpairs, key, value, slot, stack_bytes(program, calls))


def text_bytes(program: ir.Program, name: str, length: int) -> int:
    """Longest text of a clause variable of `length` elements: characters are text, numbers are printed one by one."""
    symbol = program.symbol(program.region.function, name) if name else None
    return _text_bytes(program, symbol.type, length) if symbol is not None else 0


def _text_bytes(program: ir.Program, whole: CType, length: int) -> int:
    """Of an object. The fields of a struct stand one after the other, with a byte between them."""
    kind = whole
    while (inner := ctype.element(kind)) is not None:
        kind = inner
    if isinstance(kind, ctype.Struct):
        fields = program.layouts.table[kind.tag].fields
        return sum(_text_bytes(program, f.type, program.layouts.elements(f.type) or length) + 1 for f in fields)
    if isinstance(kind, ctype.Int) and kind.bits == 8 and ctype.element(whole) is not None:
        return max(length - 1, 1)
    each = _NUMBER_BYTES.get(kind.bits, 40) if isinstance(kind, ctype.Int) else _REAL_BYTES
    return each * max(length, 1) + max(length - 1, 0)


def text(shape: LaunchConfig) -> str:
    """One line per number."""
    return "".join(f"{field.name:12}{getattr(shape, field.name)}\n" for field in fields(shape))
