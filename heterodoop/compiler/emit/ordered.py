"""The text of a combine kernel that is an ordered key loop: its steps as a struct, of which runtime/device/sink/ordered.cuh
makes kernels.

Which combiners have one is decided by both programs of an app. Pure text.
"""

from __future__ import annotations

from collections.abc import Sequence

from ... import manifest
from ...kernel_plan import KernelPlan
from ...values import dataclass
from ..ir import ir
from ..ir import names as ir_names
from ..keyloop.loop import KeyLoop
from . import key_loop
from .kernel import clauses

OPTION = "ordered-loops"
ENTRY = "hd_combine"
THREADS = 128
_ALWAYS = ("libc/format.cuh", "libc/arith.cuh", "libc/wrap.cuh", "sink/ordered.cuh")


@dataclass(frozen=True)
class Ordered:
    """A combiner's loop and how it reads its pairs."""

    loop: KeyLoop
    pairs: manifest.PairReader


def ordered(region: manifest.Region, loop: KeyLoop | None) -> Ordered | None:
    """What a device can do of a combiner's loop; None: nothing."""
    if loop is None or region.pairs is None or loop.head or loop.tail:
        return None
    if key_loop.problem(loop, region.pairs) or key_loop.device_problem(loop):
        return None
    return Ordered(loop, region.pairs)


def kernel(made: Ordered, plan: KernelPlan) -> manifest.Kernel:
    """The manifest's entry before anything is built."""
    return manifest.Kernel(
        source="cuda/combine.cu", entry=ENTRY, threads=THREADS, blocks=0, kvpairs=0, key_bytes=0, value_bytes=0,
        shared_bytes=1, stack_bytes=0, shared=(), prologue="", prologue_runs="once", plan=plan, cubins=(),
        numbers=len(key_loop.columns(made.loop)), kept=key_loop.words(made.loop) + key_loop.text_bytes(made.loop) // 8,
    )


def emit(made: Ordered, region: ir.Region, macros: Sequence[str] = ()) -> str:
    """The whole .cu text; `macros`: see `library`."""
    source = ir_names.escape(region.span.file.encode("utf-8", "surrogateescape"))[1:-1]
    about = [f"combine.cu: made by HeteroDoop from {source}; changes here are lost", "", f"  {clauses(region)}",
             "  an ordered key loop: a thread for each key does the steps of its pairs, whose numbers were read beforehand"]
    defined = [f"#define {macro} 1  // as this program's C library (library.cuh)" for macro in macros]
    included = [f'#include "{header}"' for header in (*_ALWAYS, *key_loop.headers(made.loop))]
    lines = [*(f"// {line}".rstrip() for line in about), "", *defined, *included, "", "namespace app {", ""]
    lines += [*key_loop.device_lines(made.loop, made.pairs), "", "}  // namespace app", "", "HD_ORDERED(app::Fold)"]
    return "".join(f"{line}\n" for line in lines)
