"""What a task on a device writes: the filter's bytes, however they are cut for its writers, or an error and no file."""

from __future__ import annotations

import os
import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from heterodoop.executor.native.runtime import Progress, TaskStatus

from .gpu_programs import Kernel
from .gpu_tasks import ALL_COUNTERS, MAP_COUNTERS, Run, Written, same

WORDS, IDENTITY = Kernel("words_cursor"), Kernel("identity")
WRITERS = ((1, 1 << 20), (3, 700), (2, 13))  # threads; bytes of a piece
TEXTS = {
    "lines": b"".join(b"%d some words, of which one is number %d\n" % (i * 7919 % 1000, i) for i in range(1500)),
    "no word but at the ends": b"first\n" + b"\n" * 3000 + b"last\n",  # sub-splits without output
    "no word": b"\n" * 100,
    "one pair of all bytes": b"k\t" + bytes(c for c in range(256) if c not in b"\r\n") * 200 + b"\n",
}


def options(writers: tuple[int, int], sub_split: int) -> dict[str, int]:
    return {"sub_split_bytes": sub_split, "write_threads": writers[0], "write_piece": writers[1]}


@pytest.mark.parametrize("writers", WRITERS)
@pytest.mark.parametrize("name", TEXTS)
def test_the_bytes_are_the_filter_s(on_device: Run, on_cpu: Run, name: str, writers: tuple[int, int]) -> None:
    kernel = IDENTITY if name.startswith("one pair") else WORDS
    for reducers, sub_split in ((0, 3000), (0, 0), (1, 0), (5, 9000), (300, 0)):
        ours = on_device(TEXTS[name], kernel, reducers=reducers, options=options(writers, sub_split))
        theirs = on_cpu(TEXTS[name], kernel, reducers=reducers)
        same(ours, theirs, MAP_COUNTERS if sub_split else ALL_COUNTERS)


def test_texts_of_many_sizes_follow_each_other(on_device: Run, on_cpu: Run) -> None:
    """Texts that are longer and shorter than a piece and than what a thread is worth, one after the other."""
    rng = random.Random(3)
    for _ in range(6):
        lines = [rng.randbytes(rng.choice((1, 50, 30_000))).translate(None, b"\r\n\0") + b"\n" for _ in range(40)]
        chosen = options((rng.randint(1, 4), rng.choice((100, 5000, 1 << 20))), rng.choice((500, 40_000, 400_000)))
        same(on_device(b"".join(lines), IDENTITY, reducers=0, options=chosen), on_cpu(b"".join(lines), IDENTITY, reducers=0),
             MAP_COUNTERS)


def test_a_large_text_comes_whole(on_device: Run) -> None:
    """Large enough to be allocated, and for a mapping, where the file system has them."""
    data = b"".join(b"%06d %s\n" % (i, b"x" * 4000) for i in range(1300))
    ours = on_device(data, IDENTITY, reducers=0, options=options((5, 1 << 20), 6 << 20))
    assert ours.result.status is TaskStatus.OK and ours.data == data.replace(b"\n", b"\t\n")


@contextmanager
def files_of(most: int) -> Iterator[None]:
    """Files may not grow beyond `most` bytes: as on a disk that is full, writing fails in the middle."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("writers", WRITERS[:2])
@pytest.mark.parametrize(("reducers", "sub_split"), [(0, 3000), (0, 0), (3, 0), (3, 20_000)])
def test_a_file_that_cannot_grow_is_told(
    on_device: Run, on_cpu: Run, tmp_path: Path, writers: tuple[int, int], reducers: int, sub_split: int,
) -> None:
    source = tmp_path / "lines"
    chosen: dict[str, Any] = {"reducers": reducers, "options": options(writers, sub_split)}
    source.write_bytes(TEXTS["lines"])
    with files_of(10_000):
        ours = on_device(b"", WORDS, input=source, **chosen)
    name = "spill0.out" if reducers and sub_split else "gpu.out"
    nothing_of(ours, TaskStatus.IO_ERROR)
    assert ours.result.message.startswith("cannot write ") and f"/{name}.tmp: File too large" in ours.result.message
    again = on_device(b"", WORDS, input=source, **chosen)  # the device is as good as new
    same(again, on_cpu(b"", WORDS, input=source, reducers=reducers), MAP_COUNTERS)


@pytest.mark.parametrize("reducers", [0, 2])
def test_a_task_that_is_stopped_leaves_nothing(on_device: Run, reducers: int) -> None:
    progress = Progress()
    progress.cancel()
    nothing_of(on_device(TEXTS["lines"], WORDS, reducers=reducers, options=options((2, 50), 3000), progress=progress),
               TaskStatus.CANCELLED)


def nothing_of(ours: Written, status: TaskStatus) -> None:
    assert (ours.result.status, ours.data, ours.index) == (status, None, None)
    assert not [name for name in os.listdir(ours.out.parent) if name.startswith("gpu.out")]
