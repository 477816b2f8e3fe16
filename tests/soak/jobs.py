"""The jobs that are struck: small, of several splits and reducers, with an oracle that is not the product's code.

Words of a text are counted (with a combiner, without one under a sort that spills, and by maps alone).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..support import ROOT, Bundles, partition

APP = ROOT / "apps" / "wordcount"
TEXT_BYTES = 30_000
SPLIT_BYTES = 8_000
NAMES = ("combined", "spilled", "mapped")


@dataclass(frozen=True)
class Job:
    """bundle: the compiled one. words: options of `heterodoop run`. reducers: 0 = the maps' output is the result."""

    name: str
    bundle: Path
    words: tuple[str, ...]
    reducers: int


@dataclass(frozen=True)
class Result:
    """What lies in an output folder: part files by name."""

    parts: dict[str, bytes]

    @classmethod
    def read(cls, output: Path) -> Result:
        return cls({path.name: path.read_bytes() for path in sorted(output.glob("part-*"))})

    def total(self) -> int:
        """All counts together: how many words the result knows of."""
        lines = b"".join(self.parts.values()).split(b"\n")
        return sum(int(line.rpartition(b"\t")[2]) for line in lines if line.rpartition(b"\t")[2].isdigit())


def make_text(seed: int = 7) -> bytes:
    """Lines of words, few of them frequent and many rare; some lines empty, one long, the last without an end."""
    rnd = random.Random(seed)
    words = ["".join(rnd.choices("etaoinshrdlu", k=rnd.randint(1, 9))) for _ in range(900)]
    lines: list[str] = []
    size = 0
    while size < TEXT_BYTES:
        count = 300 if len(lines) == 40 else rnd.randrange(14)
        lines.append(" ".join(words[int(len(words) * rnd.random() ** 3)] for _ in range(count)))
        size += len(lines[-1]) + 1
    return "\n".join(lines).encode()


def make_jobs(bundles: Bundles) -> dict[str, Job]:
    """Compiled once, whoever asks."""
    map, combine, reduce = ((APP / f"{role}.c").read_text() for role in ("map", "combine", "reduce"))
    split = ("--split-size", str(SPLIT_BYTES))
    jobs = [
        Job("combined", bundles.get(map, combine, reduce), (*split, "--reducers", "2"), 2),
        Job("spilled", bundles.get(map, "", reduce), (*split, "--reducers", "3", "-D", "heterodoop.sort.bytes=24000"), 3),
        Job("mapped", bundles.get(map), (*split, "--reducers", "0"), 0),
    ]
    return {job.name: job for job in jobs}


def expected(job: Job, text: bytes) -> Result:
    """The right result, computed here. Raises ValueError for a job of maps alone: where splits begin is the product's."""
    if not job.reducers:
        raise ValueError("the parts of a map-only job depend on the splits")
    rows: list[list[bytes]] = [[] for _ in range(job.reducers)]
    for word, count in sorted(Counter(text.split()).items()):
        rows[partition(word, job.reducers)].append(b"%s\t%d\n" % (word, count))
    return Result({f"part-{number:05d}": b"".join(lines) for number, lines in enumerate(rows)})


def check_reference(job: Job, found: Result, text: bytes) -> None:
    """Raise AssertionError where what a run without faults made is not right."""
    if job.reducers:
        assert found == expected(job, text), f"{job.name}: without any fault the output is wrong"
    else:
        whole = b"".join(part for _, part in sorted(found.parts.items()))
        assert whole == b"".join(b"%s\t1\n" % word for word in text.split()), f"{job.name}: the maps' output is wrong"


def command(job: Job, bundle: Path, inputs: Sequence[Path], output: Path, device: Sequence[str]) -> list[str]:
    """Arguments of the `heterodoop` that runs the job."""
    return ["run", str(bundle), *map(str, inputs), "-o", str(output), "--quiet", "--cpu-slots", "2", *job.words, *device]
