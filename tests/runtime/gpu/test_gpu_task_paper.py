"""The paper's ways beside ours, in whole tasks: merge sort, areas found by a scan, items of a block, one thread of a warp.

All give the CPU path's bytes in any order of lanes; and each is seen to be used.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from heterodoop.executor.native import gpu_abi as abi

from .gpu_programs import Device, Kernel
from .gpu_tasks import MAP_COUNTERS, Run, same
from .test_gpu_task import text_of

AREA = Kernel("words_block_area", kvpairs=4, key_bytes=40, value_bytes=2)
SCANNED = replace(AREA, flags=abi.SCAN_AREAS)
COPIES = Kernel("copies_area", kvpairs=2, key_bytes=40, value_bytes=20, flags=abi.SCAN_AREAS)
SUM = Kernel("sum_warp_area", kvpairs=8, key_bytes=40, value_bytes=4, threads=64, flags=abi.SCAN_AREAS | abi.ONE_PER_WARP)
MERGE = {"sort_kind": abi.MERGE_SORT}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("sort", [abi.RADIX_SORT, abi.MERGE_SORT])
def test_the_whole_set_in_any_order_of_lanes(on_device: Run, on_cpu: Run, order: int, sort: int) -> None:
    data = text_of(150)
    options = {"emu_order": order, "emu_seed": 5, "emu_pattern": 0xA5, "sort_kind": sort, "sub_split_bytes": 1500}
    same(on_device(data, SCANNED, SUM, options), on_cpu(data, SCANNED, SUM), MAP_COUNTERS)
    same(on_device(data, SCANNED, options=options, reducers=5), on_cpu(data, SCANNED, reducers=5), MAP_COUNTERS)
    same(on_device(data, SCANNED, options=options, reducers=0), on_cpu(data, SCANNED, reducers=0), MAP_COUNTERS)


@pytest.mark.parametrize("reducers", [1, 2, 7])
def test_merging_sorts_as_radix_does(on_device: Run, on_cpu: Run, device: Device, reducers: int) -> None:
    """More than one tile of 512 pairs; the same keys often, so that the order of the program decides."""
    data = text_of(700, seed=reducers)
    theirs = on_cpu(data, AREA, reducers=reducers)
    same(on_device(data, AREA, options=MERGE, reducers=reducers), theirs)
    assert device.stats()["merge_passes"] > 1 and device.stats()["sort_levels"] == 0
    same(on_device(data, AREA, reducers=reducers), theirs)
    assert device.stats()["sort_levels"] > 1


def test_text_for_stderr_between_the_pairs_of_an_area(on_device: Run, on_cpu: Run) -> None:
    chosen = random.Random(3)
    data = b"".join(b"%d word %d\n" % (chosen.randrange(-2, 5), i) for i in range(300))
    for flags in (0, abi.SCAN_AREAS):
        map = replace(COPIES, flags=flags)
        for reducers in (0, 3):
            same(on_device(data, map, options=MERGE, reducers=reducers), on_cpu(data, map, reducers=reducers))


def test_nothing_but_stderr_and_nothing_at_all(on_device: Run, on_cpu: Run) -> None:
    for data in (b"-1 a\n-2 b\n", b"0 a\n0 b\n"):
        same(on_device(data, COPIES, options=MERGE), on_cpu(data, COPIES))


@pytest.mark.parametrize("combine", [SUM, replace(SUM, flags=abi.ONE_PER_WARP), Kernel("sum_warp", flags=abi.ONE_PER_WARP)],
                         ids=["scanned areas", "areas", "cursor"])
@pytest.mark.parametrize("blocks", [0, 1, 7])
def test_one_thread_of_each_warp_combines(on_device: Run, on_cpu: Run, combine: Kernel, blocks: int) -> None:
    data = text_of(100) + b"one one one one one one one one\n" * 200
    combine = replace(combine, blocks=blocks)
    same(on_device(data, SCANNED, combine), on_cpu(data, SCANNED, combine))


def test_areas_that_overflow_grow(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = b"a b c d e f g h i j k l m n o p\n" * 90 + b"\n" * 500
    small = replace(SCANNED, kvpairs=1, key_bytes=1, value_bytes=1, blocks=2)
    same(on_device(data, small, options=MERGE), on_cpu(data, small))
    assert device.stats()["retries"] > 0
