"""What a job costs: its slots and GPUs, rented for as long as it takes."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

HOUR = 3600.0
_WORD = re.compile(r"(cpu|gpu)=([0-9]+(?:\.[0-9]*)?|\.[0-9]+)")


class Price(NamedTuple):
    """Of a CPU slot and of a GPU for an hour, in whatever money."""

    cpu: float
    gpu: float

    def of(self, cpu_slots: int, gpus: int, seconds: float) -> float:
        """All of them for so long, also while they are idle: nobody else has them."""
        return (cpu_slots * self.cpu + gpus * self.gpu) * seconds / HOUR


def parse(text: str) -> Price:
    """`cpu=0.05,gpu=2.5`; what is not named costs nothing. Raises ValueError, which says what is wrong."""
    found: dict[str, float] = {}
    for word in text.split(","):
        match = _WORD.fullmatch(word.strip())
        if not match or match[1] in found or not math.isfinite(float(match[2])):
            raise ValueError(f"--price {text!r} is not as cpu=0.05,gpu=2.5, of a CPU slot and a GPU for an hour")
        found[match[1]] = float(match[2])
    return Price(found.get("cpu", 0.0), found.get("gpu", 0.0))
