"""What a call was asked for, as parent and child processes share it, and the sizes that follow from it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .. import data

MIB = 1 << 20
SMALL_APPS = ("kmeans", "classification", "linear_regression")  # much to compute per byte: 256 MiB
LEAST = 16 << 10


@dataclass(frozen=True)
class Options:
    """The command line, parsed. `scale` shrinks all sizes and seconds, to try things out; `only` = names of measurements."""

    state: Path
    device: str = "cuda"
    scale: float = 1.0
    bundles: Path | None = None
    data: Path = data.SCRATCH
    only: tuple[str, ...] = ()
    cpu_seconds: float = 20.0
    cpu_at_a_time: int = 1
    lanes: int = 1
    runs: int = 5
    item_runs: int = 3
    job_seconds: float = 30.0
    rounds: int = 3
    gpus: tuple[int, ...] = (1,)
    ingest: tuple[int, ...] = (4, 8, 12)

    def size(self, nbytes: float) -> int:
        """So many bytes, scaled; whole pages, since some kinds of data have records of a fixed size."""
        return max(LEAST, int(nbytes * self.scale) // 4096 * 4096)

    def seconds(self, seconds: float) -> float:
        return seconds * min(1.0, self.scale * 100)

    def app_size(self, app: str) -> int:
        """Bytes of the app's data, which are one GPU task's input."""
        return self.size((256 if app in SMALL_APPS else 1024) * MIB)

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Options:
        read = cls(**json.loads(text))
        bundles = Path(read.bundles) if read.bundles else None
        return replace(
            read, state=Path(read.state), data=Path(read.data), bundles=bundles, only=tuple(read.only),
            gpus=tuple(read.gpus), ingest=tuple(read.ingest))
