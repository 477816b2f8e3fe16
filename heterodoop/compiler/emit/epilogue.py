"""The epilogue of a kernel: the user's program with the totals of a task in the region's place.

A copy of the source, as the prologue is one, in which the region does not run: before it stand calls of
runtime/cpu/totals.c, which read from stdin what all records have gathered and put it into the variables. The code before the
region runs as in the filter, and so does the code behind it, which prints. Not here: which variables these are
(`decide.totals`), may it run so at all (`decide.epilogue`), its run (runtime/host/task/epilogue.cpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...manifest import Accumulation, Total
from ...source import SourceFile, Span
from ...toolchain.cc import CcOptions
from ..source.wide_names import in_c
from .prologue import build_beside, replaced

_DECLARATIONS = (
    "extern void hd_totals_read(unsigned long); extern void hd_totals_end(void); "
    "extern void hd_total(void *, unsigned long, unsigned long, unsigned long, unsigned long, unsigned long, unsigned long, "
    "unsigned long, int, int); extern void hd_total_memory(void *, unsigned long, unsigned long, unsigned long, "
    "unsigned long, unsigned long, unsigned long, int, int);"
)
_CODES: dict[Accumulation, int] = {  # enum of totals.c
    "sum": 0, "min": 1, "max": 2, "and": 3, "or": 4, "xor": 5, "first-min": 6, "last-min": 7, "first-max": 8, "last-max": 9,
}


def epilogue_text(source: SourceFile, directive: Span, totals: Sequence[Total], names: Sequence[str], nbytes: int) -> str:
    """The source whose region is never entered. names: of the totals' variables, as the source has them; `*p` is memory
    whose size the program computes."""
    return replaced(source, directive, statement(totals, names, nbytes))


def statement(totals: Sequence[Total], names: Sequence[str], nbytes: int) -> str:
    """What stands before the region's statement, of which it becomes a part that does not run."""
    calls = [f"hd_totals_read({nbytes}UL);"]
    for total, name in zip(totals, names, strict=True):
        size = total.size if total.signed else -total.size
        numbers = (total.nbytes, total.base, total.at, total.count, total.inner, total.stride)
        where = f"{', '.join(f'{number}UL' for number in numbers)}, {size}, {_CODES[total.op]}"
        sized = f"hd_total((void *)&({name}), sizeof({name})"
        calls.append(f"{f'hd_total_memory((void *)({name[1:]})' if name.startswith('*') else sized}, {where});")
    return in_c(f"for (__extension__ ({{ {_DECLARATIONS} {' '.join([*calls, 'hd_totals_end();'])} }}); 0;)")


def build_epilogue(
    source: SourceFile, directive: Span, totals: Sequence[Total], names: Sequence[str], nbytes: int, out: Path,
    extra: Sequence[Path], options: CcOptions,
) -> None:
    """Compile and link it, as the filter is linked. `out.parent` is a scratch folder of ours; raises as
    `toolchain.cc.build_filter`."""
    text = epilogue_text(source, directive, totals, names, nbytes)
    build_beside(source, text, "epilogue", ("stdio_buffers", "totals"), out, extra, options)
