"""Where a device's room or abilities end: launches are repeated, sub-splits halved, the rest is left to the CPU."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from heterodoop.executor.native.runtime import Progress, TaskStatus

from .gpu_programs import Device, Kernel, texts
from .gpu_tasks import ALL_COUNTERS, MAP_COUNTERS, Run, same

WORDS, SUM, COPIES = Kernel("words_cursor"), Kernel("sum_cursor"), Kernel("copies_cursor")
KIB = 1 << 10


def lines(count: int) -> bytes:
    return b"".join(b"word%d and more\n" % (i % 50) for i in range(count))


@pytest.mark.parametrize("options", [{"arena_bytes": 1}, {"pairs": 1}, {"arena_bytes": 1, "pairs": 1}], ids=str)
def test_an_output_that_outgrows_its_room_is_made_again(on_device: Run, on_cpu: Run, device: Device,
                                                        options: dict[str, int]) -> None:
    data = lines(400)
    same(on_device(data, WORDS, SUM, options), on_cpu(data, WORDS, SUM))
    assert device.stats()["retries"] > 0
    before = device.stats()["retries"]
    same(on_device(data, WORDS, SUM, options), on_cpu(data, WORDS, SUM))
    assert device.stats()["retries"] == before, "the device keeps the room that it has grown to"


def test_one_record_with_much_output(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = b"1 a\n30000 b\n2 c\n"
    for reducers in (0, 2):
        same(on_device(data, COPIES, reducers=reducers), on_cpu(data, COPIES, reducers=reducers))
    assert device.stats()["retries"] > 0


def test_fixed_slots_grow_in_number_and_in_size(on_device: Run, on_cpu: Run, device: Device) -> None:
    area = Kernel("words_area", blocks=1, threads=2, kvpairs=1, key_bytes=1, value_bytes=1)
    data = b"a " * 200 + b"x" * 100 + b"\nb c\n"
    same(on_device(data, area), on_cpu(data, area))
    assert device.stats()["retries"] > 3


def test_a_launch_that_is_repeated_finds_its_records_whole(on_device: Run, on_cpu: Run) -> None:
    data = lines(300)  # the combiner writes NULs into its lines
    options = {"arena_bytes": 1, "pairs": 1, "emu_order": 2, "emu_seed": 3}
    same(on_device(data, WORDS, SUM, options, reducers=1), on_cpu(data, WORDS, SUM, reducers=1))


@pytest.mark.parametrize("combine", [None, SUM], ids=["pairs", "fold"])
def test_sub_splits_are_halved_until_they_fit(on_device: Run, on_cpu: Run, device: Device, combine: Kernel | None) -> None:
    data = lines(4000)
    ours = on_device(data, WORDS, combine, {"emu_memory": 1200 * KIB, "sub_split_bytes": len(data)})
    same(ours, on_cpu(data, WORDS, combine), MAP_COUNTERS)
    stats = device.stats()
    assert stats["halvings"] > 0 and stats["sub_splits"] == ours.result.counters["SPILLS"] > 1


def test_halved_sub_splits_of_a_map_only_task(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = b"".join(b"%d x\n-1\n" % (i % 5) for i in range(8000))
    ours = on_device(data, COPIES, options={"memory_mib": 1}, reducers=0)  # a part of the memory, as with a driver's share
    same(ours, on_cpu(data, COPIES, reducers=0))
    assert device.stats()["halvings"] > 0


def test_tasks_at_a_time_have_a_share_of_the_memory_each(on_device: Run, on_cpu: Run, device: Device) -> None:
    """A byte of input may take 32 of memory, so 96 MiB are for a sub-split of 3 MiB, or for three of 1 MiB at a time."""
    data = lines(180_000)
    assert 2 << 20 < len(data) < 3 << 20
    counts = []
    for sessions in (0, 3):
        before = device.stats()["sub_splits"]
        ours = on_device(data, COPIES, options={"emu_memory": 97 << 20, "sessions": sessions}, reducers=0)
        same(ours, on_cpu(data, COPIES, reducers=0))
        counts.append(device.stats()["sub_splits"] - before)
    assert counts == [1, 3] and device.stats()["halvings"] == 0


def test_a_record_that_does_not_fit_is_the_cpu_s(on_device: Run, device: Device) -> None:
    ours = on_device(b"1 a\n2 b\n500000 c\n1 d\n", COPIES, options={"emu_memory": 4000 * KIB})
    assert ours.result.status is TaskStatus.RUN_ON_CPU, ours.result.message
    assert "record 3 " in ours.result.message and "memory" in ours.result.message
    assert ours.data is None


def test_objects_that_do_not_fit_are_the_cpu_s(on_device: Run) -> None:
    kernel = Kernel("touchy", b"\0" * 24, (b"t" * 3000 * KIB,), ((0, 0, 0),))
    ours = on_device(b"a\n", kernel, options={"emu_memory": 1000 * KIB})
    assert ours.result.status is TaskStatus.RUN_ON_CPU and "read-only data" in ours.result.message


@pytest.mark.parametrize("sub_split", [0, 4])
@pytest.mark.parametrize("reducers", [0, 2])
def test_a_failing_record_is_named(on_device: Run, reducers: int, sub_split: int) -> None:
    ours = on_device(b"ab\ncd\n!\nef\n", texts(1), reducers=reducers, options={"sub_split_bytes": sub_split})
    assert ours.result.status is TaskStatus.RUN_ON_CPU
    assert ours.result.message.startswith("record 3: ") and "division" in ours.result.message
    assert ours.result.message.endswith("(source line 42)")
    assert ours.data is None and ours.index is None


@pytest.mark.parametrize(("line", "why"), [(b"r", "carriage return"), (b"?", "newline")])
def test_output_that_is_no_line_is_the_cpu_s(on_device: Run, line: bytes, why: str) -> None:
    ours = on_device(b"a\n" + line, texts(1) if line == b"r" else Kernel("unended"))
    assert ours.result.status is TaskStatus.RUN_ON_CPU
    assert ours.result.message.startswith("record ") and why in ours.result.message


def test_counters_of_a_run_in_vain_do_not_count(on_device: Run) -> None:
    ours = on_device(b"-1\n-2\n500000 c\n", COPIES, options={"emu_memory": 3000 * KIB, "sub_split_bytes": 3})
    assert ours.result.status is TaskStatus.RUN_ON_CPU
    assert ours.result.user_counters == {} and ours.result.status_text == ""


def test_a_combine_kernel_that_breaks_the_order_is_not_believed(on_device: Run) -> None:
    ours = on_device(b"a b c\n", WORDS, Kernel("disorder"), reducers=1)
    assert ours.result.status is TaskStatus.RUN_ON_CPU
    assert '"y" is out of order; the key before it was "z"' in ours.result.message
    assert ours.data is None


def test_a_combine_kernel_that_does_not_combine_is_given_up(on_device: Run) -> None:
    ours = on_device(b"a a a\n", WORDS, Kernel("identity"))
    assert ours.result.status is TaskStatus.RUN_ON_CPU
    assert "does not bring the pairs of a key together" in ours.result.message


def test_a_combiner_that_writes_to_stderr_is_the_cpu_s(on_device: Run) -> None:
    ours = on_device(b"a b\n", WORDS, Kernel("talker"))
    assert ours.result.status is TaskStatus.RUN_ON_CPU and "stderr" in ours.result.message


def test_an_unknown_kernel_is_an_error(on_device: Run) -> None:
    ours = on_device(b"a\n", Kernel("missing"))
    assert ours.result.status is TaskStatus.DEVICE_FAILED and "missing" in ours.result.message


def test_a_task_can_be_stopped(on_device: Run) -> None:
    progress = Progress()
    threading.Timer(0.2, progress.cancel).start()
    begin = time.monotonic()
    ours = on_device(lines(20000), WORDS, options={"sub_split_bytes": 16}, progress=progress)
    assert ours.result.status is TaskStatus.CANCELLED and ours.data is None
    assert time.monotonic() - begin < 20


def test_a_task_after_a_failed_one_is_as_good_as_the_first(on_device: Run, on_cpu: Run, tmp_path: Path) -> None:
    data = lines(100)
    for options in ({"emu_memory": 1000}, {}):
        ours = on_device(data, WORDS, SUM, options)
    same(ours, on_cpu(data, WORDS, SUM), ALL_COUNTERS)
