"""The text of a reducer's host kernel: its key loop as a struct, and main() behind it (runtime/hostlane/reduce/main.h).

Pure text, as a host kernel of a mapper is; nothing of the user's code is in it but what the key loop says of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...manifest import PairReader
from ...source import Span
from ..ir import names
from ..keyloop.loop import KeyLoop
from . import key_loop

_HEADERS = ("lane/base.cuh", "libc/format.cuh", "libc/arith.cuh", "libc/wrap.cuh", "reduce/main.h")


def emit(loop: KeyLoop, pairs: PairReader, macros: Sequence[str], place: Span) -> str:
    """For a reducer for which `key_loop.reducer_problem` says nothing; place: of its loop."""
    shown = names.escape(str(place).encode("utf-8", "surrogateescape"))[1:-1]
    return "\n".join([
        "// reduce.host.cpp: made by HeteroDoop; changes here are lost",
        "//",
        f"//   {shown}: the pairs of a key are folded, keys are printed in their order",
        "",
        *(f"#define {macro} 1  // as this program's C library (library.cuh)" for macro in macros),
        *(f'#include "{header}"' for header in (*_HEADERS, *key_loop.headers(loop))),
        "",
        "namespace app {",
        "",
        *key_loop.reducer_lines(loop, pairs),
        "",
        "}  // namespace app",
        "",
        "HD_REDUCE_MAIN(app::Fold)",
        "",
    ])
