"""How a kernel and its task do their work: choices of the compiler that the executor follows too, one field each.

Names for the command line, and sets of them, are in the compiler's table of optimisations.
"""

from __future__ import annotations

from typing import Literal

from .values import dataclass


@dataclass(frozen=True)
class KernelPlan:
    """What was chosen of how a kernel and its task do their work.

    sink           where the pairs go: a cursor of the block, or areas of the threads.
    areas          how the pairs of such areas are found: by their counts, or by a scan of them.
    items          who shares out work items: one counter, or blocks among their threads.
    records        the order in which they are taken.
    sort           of the pairs. fold: what brings a fold's pairs together first. "" = none of this kernel's.
    map_fold       the map kernel folds pairs itself as far as it can, for the combiner.
    gather         what records only add to is gathered by threads and blocks.
    ordered        the combine kernel does the steps of an ordered key loop, pair by pair.
    output         how a line is put together: by bytes, by words, or by words as string functions go too.
    shared_tables  read-only arrays go to shared memory. textures: arrays of numbers to texture memory.
    search_ahead   loops that search a read-only array read ahead.
    one_per_warp   one thread of a warp works, with arrays in shared memory.
    """

    sink: Literal["BlockCursor", "ThreadArea"] = "BlockCursor"
    areas: Literal["counts", "scan"] = "counts"
    items: Literal["global", "block"] = "global"
    records: Literal["as-read", "longest-first"] = "as-read"
    sort: Literal["", "radix", "merge"] = ""
    fold: Literal["", "hash"] = ""
    map_fold: bool = False
    gather: bool = False
    ordered: bool = False
    output: Literal["bytes", "words", "vectorized"] = "bytes"
    shared_tables: bool = False
    textures: bool = False
    search_ahead: bool = False
    one_per_warp: bool = False
