"""THE table of what a kernel's generation and its task can be switched between, and the named sets of it.

`--opt default` is what was measured to be fastest, `--opt paper` the paper's own scheme, so that its figures can be made
again. Names are the command line's; what is done follows a `KernelPlan`, of which each item sets one field. Only what has an
effect is listed. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...errors import UsageError
from ...kernel_plan import KernelPlan
from ...values import dataclass


@dataclass(frozen=True)
class Optimisation:
    """One item. `sets` it is part of; `instead`: what takes its place where it is switched off ("" = nothing).

    switch  a plan with the item on; of one that has it on, the same plan.
    needs   the item without which it has no effect. kind: of the kernels that it has an effect on, "" = both; "folds": of
            mappers whose combiner's fold they can do, "loops": of combiners whose loop they can do, which is decided when
            both programs are known; "gathers": of mappers whose records gather something.
    """

    name: str
    doc: str
    sets: tuple[str, ...]
    switch: Callable[[KernelPlan], KernelPlan]
    instead: str = ""
    needs: str = ""
    kind: str = ""


SETS = ("default", "paper")

ALL: tuple[Optimisation, ...] = (
    Optimisation("block-cursor", "pairs go through a cursor of the block into bounded chunks", ("default",),
                 lambda plan: replace(plan, sink="BlockCursor"), "thread-areas"),
    Optimisation("thread-areas", "each thread has slots of its own for its pairs (paper, 4.1)", ("paper",),
                 lambda plan: replace(plan, sink="ThreadArea"), "block-cursor"),
    Optimisation("shared-tables", "read-only arrays of up to 40 KB go to shared memory", ("default",),
                 lambda plan: replace(plan, shared_tables=True)),
    Optimisation("texture", "read-only arrays of numbers go to texture memory without a clause (paper, 3.2)", ("paper",),
                 lambda plan: replace(plan, textures=True)),
    Optimisation("longest-first", "long records are taken first, the longest by a warp each, so that no thread ends late",
                 ("default",), lambda plan: replace(plan, records="longest-first"), kind="mapper"),
    Optimisation("radix-sort", "pairs are sorted by eight bytes of the key at a time", ("default",),
                 lambda plan: replace(plan, sort="radix"), "merge-sort", kind="mapper"),
    Optimisation("merge-sort", "pairs are sorted by merging, keys compared in place (paper, 5.3)", ("paper",),
                 lambda plan: replace(plan, sort="merge"), "radix-sort", kind="mapper"),
    Optimisation("hash-fold", "a fold's pairs are brought together by hash tables before they are sorted", ("default",),
                 lambda plan: replace(plan, fold="hash"), kind="combiner"),
    Optimisation("map-fold", "the map kernel folds pairs itself, in its blocks' shared memory, and writes none of them",
                 ("default",), lambda plan: replace(plan, map_fold=True), needs="hash-fold", kind="folds"),
    Optimisation("gather", "sums, least values and the like of all records are gathered for the code behind the loop",
                 ("default",), lambda plan: replace(plan, gather=True), kind="gathers"),
    Optimisation("ordered-loops", "the steps of a combiner that is an ordered key loop are done by a thread for each key",
                 ("default",), lambda plan: replace(plan, ordered=True), kind="loops"),
    Optimisation("block-stealing", "work items are shared out to blocks, threads take them inside (paper, 4.1)", ("paper",),
                 lambda plan: replace(plan, items="block")),
    Optimisation("word-output", "a short line is put together in the thread and stored by words", ("default",),
                 lambda plan: replace(plan, output="words")),
    Optimisation("search-ahead", "a loop that looks for a place in a read-only array asks for 16 elements at a time",
                 ("default",), lambda plan: replace(plan, search_ahead=True)),
    Optimisation("vectorized", "short lines, strcpy and strcmp go by words, not bytes (paper, 4.1 and 4.2)", ("paper",),
                 lambda plan: replace(plan, output="vectorized")),
    Optimisation("scan-aggregation", "pairs are found by a scan of the threads' counts (paper, 5.3)", ("paper",),
                 lambda plan: replace(plan, areas="scan"), needs="thread-areas"),
    Optimisation("warp-combine", "one thread of a warp combines, arrays in shared memory; no others help (paper, 4.2)",
                 ("paper",), lambda plan: replace(plan, one_per_warp=True), kind="combiner"),
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


def plan(kind: str, names: Sequence[str]) -> KernelPlan:
    """What `names` come to for the kernel of a "mapper" or "combiner". Raises KeyError for a name that ALL has not."""
    found = KernelPlan()
    for row in (BY_NAME[name] for name in names):
        if row.kind in ("", kind):
            found = row.switch(found)
    return found


def names(plan: KernelPlan) -> tuple[str, ...]:
    """What is switched on in a plan, in the order of ALL. An ordered loop's kernel has nothing else to switch."""
    if plan.ordered:
        return ("ordered-loops",)
    return tuple(row.name for row in ALL if row.switch(plan) == plan)
