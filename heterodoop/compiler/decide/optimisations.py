"""THE table of what a kernel's generation and its task can be switched between, and the named sets of it.

`--opt default` is what was measured to be fastest, `--opt paper` the paper's own scheme, so that its figures can be made
again. Only what has an effect is listed. Pure: names in, names out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import UsageError


@dataclass(frozen=True)
class Optimisation:
    """One item. `sets` it is part of; `instead`: what takes its place where it is switched off ("" = nothing).

    needs   the item without which it has no effect. kind: of the kernels that it has an effect on, "" = both.
    """

    name: str
    doc: str
    sets: tuple[str, ...]
    instead: str = ""
    needs: str = ""
    kind: str = ""


SETS = ("default", "paper")

ALL: tuple[Optimisation, ...] = (
    Optimisation("block-cursor", "pairs go through a cursor of the block into bounded chunks", ("default",), "thread-areas"),
    Optimisation("thread-areas", "each thread has slots of its own for its pairs (paper, 4.1)", ("paper",), "block-cursor"),
    Optimisation("shared-tables", "read-only arrays of up to 40 KB go to shared memory", ("default",)),
    Optimisation("texture", "read-only arrays of numbers go to texture memory without a clause (paper, 3.2)", ("paper",)),
    Optimisation("longest-first", "long records are taken first, the longest by a warp each, so that no thread ends late",
                 ("default",), kind="mapper"),
    Optimisation("radix-sort", "pairs are sorted by eight bytes of the key at a time", ("default",), "merge-sort",
                 kind="mapper"),
    Optimisation("merge-sort", "pairs are sorted by merging, keys compared in place (paper, 5.3)", ("paper",), "radix-sort",
                 kind="mapper"),
    Optimisation("hash-fold", "a fold's pairs are brought together by hash tables before they are sorted", ("default",),
                 kind="combiner"),
    Optimisation("block-stealing", "work items are shared out to blocks, threads take them inside (paper, 4.1)", ("paper",)),
    Optimisation("word-output", "a short line is put together in the thread and stored by words", ("default",)),
    Optimisation("search-ahead", "a loop that looks for a place in a read-only array asks for 16 elements at a time",
                 ("default",)),
    Optimisation("vectorized", "short lines, strcpy and strcmp go by words, not bytes (paper, 4.1 and 4.2)", ("paper",)),
    Optimisation("scan-aggregation", "pairs are found by a scan of the threads' counts (paper, 5.3)", ("paper",),
                 needs="thread-areas"),
    Optimisation("warp-combine", "one thread of a warp combines, arrays in shared memory; no others help (paper, 4.2)",
                 ("paper",), kind="combiner"),
)

BY_NAME = {item.name: item for item in ALL}


def chosen(name: str = "default", without: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the set's items but for those in `without`, in the order of ALL. Raises UsageError HD005."""
    if name not in SETS:
        raise UsageError(f"there is no set '{name}' of optimisations", code="HD005", help=f"sets: {', '.join(SETS)}")
    for item in without:
        if item not in BY_NAME:
            raise UsageError(f"there is no optimisation '{item}'", code="HD005", help=f"there are: {', '.join(BY_NAME)}")
    on = {row.name for row in ALL if name in row.sets and row.name not in without}
    for row in ALL:
        if row.name in without and row.instead in without:
            text = f"'{row.name}' and '{row.instead}' cannot both be switched off: one of them does the work"
            raise UsageError(text, code="HD005", help="leave one of the two --no-opt out")
        if row.name in without and row.instead:
            on.add(row.instead)
    return tuple(row.name for row in ALL if row.name in on and (not row.needs or row.needs in on))


def of_kernel(kind: str, names: Sequence[str]) -> tuple[str, ...]:
    """Those of `names` that have an effect on the kernel of a "mapper" or "combiner"."""
    return tuple(name for name in names if BY_NAME[name].kind in ("", kind))
