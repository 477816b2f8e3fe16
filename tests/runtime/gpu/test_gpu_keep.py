"""Texts of splits that stay in a device's memory from task to task: the bytes and counters of tasks that read."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native, TaskStatus

from .gpu_programs import Device, Kernel, Modules

WORDS, SUM, IDENTITY = Kernel("words_cursor"), Kernel("sum_cursor"), Kernel("identity")
OLD = 0.03  # seconds after which a file's times tell a change
Go = Callable[..., tuple[bytes, dict[str, int]]]


class Refused(Exception):
    """The task is the CPU's."""


@pytest.fixture
def go(device: Device, filters: dict[str, str], tmp_path: Path) -> Go:
    """Run a map task over a file; returns its output and its input's counters."""

    def run(source: Path, map: Kernel = WORDS, on: Device = device, start: int = 0, length: int | None = None,
            delimiter: bytes = b"", **options: int) -> tuple[bytes, dict[str, int]]:
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        out = tmp_path / "out"
        size = source.stat().st_size - start if length is None else length
        spec = MapSpec(FilterCommand([filters[map.entry]]), input=source, out_path=out, index_path=f"{out}.index",
                       work_dir=work, log_path=tmp_path / "log", reducers=2, start=start, length=size, delimiter=delimiter)
        result = on.run(spec, map, **{"keep_percent": 50, **options})
        if result.status is TaskStatus.RUN_ON_CPU:
            raise Refused(result.message)
        assert result.status is TaskStatus.OK, result.message
        counted = {name: result.counters[name] for name in ("MAP_INPUT_RECORDS", "MAP_INPUT_BYTES", "MAP_OUTPUT_RECORDS")}
        return out.read_bytes(), counted

    return run


@pytest.fixture
def fresh(native: Native, modules: Modules) -> Iterator[Device]:
    """A device whose tasks all read."""
    opened = Device(native, modules)
    yield opened
    opened.close()


def moved(device: Device, task: Callable[[], object]) -> tuple[int, int]:
    """Bytes of input that a task read, and that were there."""
    before = device.stats()
    task()
    after = device.stats()
    return after["read_bytes"] - before["read_bytes"], after["kept_bytes"] - before["kept_bytes"]


def same(ours: object, theirs: object) -> None:
    assert ours == theirs


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    time.sleep(OLD)
    return path


def lines(seed: int, n: int = 60) -> bytes:
    chosen = random.Random(seed)
    return b"".join(bytes(chosen.choices(b"ab ", k=chosen.randrange(12))) + chosen.choice((b"\n", b"\r\n", b"\r"))
                    for _ in range(n))


def test_the_second_task_reads_nothing(device: Device, go: Go, tmp_path: Path) -> None:
    source = write(tmp_path / "in", lines(1))
    first = go(source)
    assert moved(device, lambda: same(first, go(source))) == (0, source.stat().st_size)
    assert moved(device, lambda: same(first, go(source, sub_split_bytes=40))) == (0, source.stat().st_size)
    assert moved(device, lambda: go(source, IDENTITY))[0] == 0, "another kernel may have it, too"
    assert moved(device, lambda: go(source, keep_percent=0)) == (source.stat().st_size, 0)


@settings(max_examples=25)
@given(data=st.lists(st.sampled_from([b"a", b"b c", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"", b"dd" * 9]), min_size=1,
                     max_size=40).map(b"".join).filter(lambda d: d.strip() != b""),
       cuts=st.tuples(st.floats(0, 1), st.floats(0, 1)), lf=st.booleans(),
       pieces=st.tuples(st.integers(1, 90), st.integers(1, 90)))
def test_any_split_in_any_pieces(
    device: Device, fresh: Device, go: Go, tmp_path: Path, data: bytes, cuts: tuple[float, float], lf: bool,
    pieces: tuple[int, int],
) -> None:
    """The first task reads in pieces of one size, the second one has the text and takes it in others."""
    source = tmp_path / "in"
    source.write_bytes(data)
    begin, end = sorted(int(cut * len(data)) for cut in cuts)
    split = {"start": begin, "length": end - begin, "delimiter": b"\n" if lf else b""}
    try:
        expected = go(source, on=fresh, keep_percent=0, sub_split_bytes=pieces[1], **split)
    except Refused:  # a split without a record is the CPU's
        return
    time.sleep(OLD)
    assert go(source, sub_split_bytes=pieces[0], **split) == expected
    assert moved(device, lambda: same(expected, go(source, sub_split_bytes=pieces[1], **split)))[0] == 0


def test_a_changed_file_is_read_again(device: Device, go: Go, tmp_path: Path) -> None:
    source = write(tmp_path / "in", b"one two\n" * 9)
    go(source)
    status = source.stat()
    write(source, b"two one\n" * 8 + b"xyz abc\n")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))  # as large and as old: the time of the change tells
    time.sleep(OLD)
    changed: list[bytes] = []
    assert moved(device, lambda: changed.append(go(source)[0])) == (72, 0)
    assert b"xyz" in changed[0] and moved(device, lambda: go(source)) == (0, 72)


def test_a_file_of_this_moment_is_not_kept(device: Device, go: Go, tmp_path: Path) -> None:
    """Another change within a step of the clock would not show in its times."""
    source = tmp_path / "in"
    ahead = time.time_ns() + 3600 * 10**9
    source.write_bytes(b"one two\n")
    os.utime(source, ns=(ahead, ahead))
    time.sleep(OLD)
    for _ in range(2):
        assert moved(device, lambda: go(source)) == (8, 0)


def test_turns_over_more_than_fits(device: Device, go: Go, tmp_path: Path) -> None:
    """What is there stays, round after round; and goes when nobody wants it any more."""
    sources = [write(tmp_path / f"in{n}", lines(n, 1200)) for n in range(4)]
    others = [write(tmp_path / f"other{n}", lines(n + 9, 1200)) for n in range(2)]
    size = sources[0].stat().st_size
    expected = [go(source, keep_percent=0) for source in (*sources, *others)]
    tight = {"keep_percent": 1, "emu_memory": 100 * (5 * size // 2) + (1 << 20)}  # for two of them
    turns = [moved(device, lambda: [go(source, **tight) for source in sources]) for _ in range(3)]
    assert turns[0][1] == 0 and turns[1][1] == sum(source.stat().st_size for source in sources[:2]) and turns[2] == turns[1]
    for _ in range(3):
        last = moved(device, lambda: [go(source, **tight) for source in others])
    assert last[0] == 0
    assert [go(source, **tight) for source in (*sources, *others)] == expected


def test_a_task_gets_the_memory(device: Device, fresh: Device, go: Go, tmp_path: Path) -> None:
    """A text that stays is no reason to cut a sub-split, let alone to leave it to the CPU."""
    sources = [write(tmp_path / f"in{n}", lines(n, 1200)) for n in range(4)]
    for memory in (600_000, 1_000_000):
        for _ in range(2):
            for source in sources:
                tight = {"emu_memory": memory, "keep_percent": 90}
                assert go(source, **tight) == go(source, on=fresh, emu_memory=memory, keep_percent=0)
    assert device.stats()["halvings"] <= fresh.stats()["halvings"]
    assert device.stats()["kept_bytes"], "or the test is of nothing"


def test_what_is_kept_goes_before_a_sub_split_is_cut(device: Device, fresh: Device, go: Go, tmp_path: Path) -> None:
    large, memory = write(tmp_path / "large", lines(0, 1500)), 1_000_000
    for n in range(10):  # kept by launches that need little themselves
        source = write(tmp_path / f"in{n}", (b"w" * 999 + b"\n") * 40)
        go(source, IDENTITY, sub_split_bytes=2000, emu_memory=memory, keep_percent=90)
    assert go(large, emu_memory=memory, keep_percent=90) == go(large, on=fresh, emu_memory=memory, keep_percent=0)
    assert (device.stats()["halvings"], fresh.stats()["halvings"]) == (0, 0)
    assert moved(device, lambda: go(source, IDENTITY, emu_memory=memory))[1] == 0, "or the test is of nothing"
