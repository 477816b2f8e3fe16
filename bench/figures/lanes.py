"""Lanes: equal parts of a host, each with processors and GPUs of its own, so that several apps are measured at a time.

A host with four GPUs and 64 cores so stands for four nodes of 16 cores and a GPU. Not here: what runs in a lane (runner.py).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from .state import StateError


@dataclass(frozen=True)
class Lane:
    """`processors`: of the host's; () = all of them. `gpus`: a value of CUDA_VISIBLE_DEVICES, "" = as it is."""

    processors: tuple[int, ...] = ()
    gpus: str = ""

    def environment(self) -> dict[str, str]:
        return {**os.environ, "CUDA_VISIBLE_DEVICES": self.gpus} if self.gpus else dict(os.environ)


def divide(count: int, processors: Sequence[int], gpus: Sequence[str], least_gpus: int) -> list[Lane]:
    """`count` lanes of neighbouring processors and GPUs; what does not divide is left idle. Pure.

    least_gpus  that a lane needs; 0: lanes have none.  Raises StateError where there are too few of either.
    """
    if count == 1:
        return [Lane()]
    cores, cards = len(processors) // count, len(gpus) // count
    if not cores or cards < least_gpus:
        raise StateError(f"--lanes {count}: this machine has {len(processors)} processors and {len(gpus)} GPUs, and a lane"
                         f" needs one processor and {least_gpus} GPUs at least")
    return [Lane(tuple(processors[number * cores : (number + 1) * cores]),
                 ",".join(gpus[number * cards : (number + 1) * cards]) if least_gpus else "")
            for number in range(count)]


def visible_gpus() -> list[str]:
    """What CUDA_VISIBLE_DEVICES names, else the indexes of all that nvidia-smi names."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [word for word in named.split(",") if word]
    query = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        return subprocess.run(query, check=True, capture_output=True, text=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return []
