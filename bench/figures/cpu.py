"""What one CPU core does: a map task with its filters, pinned to the core by child.py, over a slice that takes a while.

Filter, combiner and collector share the core, as 16 tasks on 16 cores do.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from ..device_task import Tasks, Timed, Work
from .bundles import Bundles
from .inputs import repeated
from .options import LEAST
from .state import Record

FIRST = 256 << 10  # bytes of the first probe


@dataclass(frozen=True)
class CpuRate:
    """Measures one app. `work`: its data; `target`: seconds that the slice is to take at least."""

    tasks: Tasks
    bundles: Bundles
    app: str
    work: Work
    target: float

    def own(self) -> Record:
        """With the bundle's own filters; half of the slice first, which tells whether the rate holds."""
        bundle = self.bundles.get(self.app, "default")
        probe = self._probe(bundle)
        half = self._timed(bundle, self._half_size(probe))
        if 2 * half.seconds < self.target:  # the probe was slower than what follows
            half = self._timed(bundle, self._half_size(half))
        whole = self._timed(bundle, 2 * half.size)
        deviation = (half.size / half.seconds) / (whole.size / whole.seconds) - 1
        return {**_record(whole), "half_bytes": half.size, "half_seconds": half.seconds, "deviation": deviation}

    def native(self, own: Record) -> Record:
        """With filters for this processor, over the same slice; `equal`: whether they gave the same output."""
        timed = self._timed(self.bundles.native(self.app), own["bytes"])
        record = _record(timed)
        return {**record, "equal": record["digest"] == own["digest"]}

    def _half_size(self, timed: Timed) -> int:
        return max(LEAST, int(0.55 * self.target * timed.size / timed.seconds))

    def _probe(self, bundle: Path) -> Timed:
        """Of a size that takes a twentieth of the target."""
        size = min(FIRST, self.work.size)
        while True:
            timed = self._timed(bundle, size)
            if timed.seconds >= self.target / 20 or size >= 1 << 40:
                return timed
            size *= min(16, max(2, int(self.target / 15 / timed.seconds)))

    def _timed(self, bundle: Path, size: int) -> Timed:
        long = self.tasks.scratch / "repeated.txt"
        text = self.work.text
        if size > text.stat().st_size:
            text = repeated(text, size, long)
        try:
            return self.tasks.on_cpu(bundle, replace(self.work, text=text, length=size))
        finally:
            long.unlink(missing_ok=True)


def _record(timed: Timed) -> Record:
    with open(timed.out, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": timed.size, "seconds": timed.seconds, "digest": digest}
