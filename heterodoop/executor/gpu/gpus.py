"""Which GPUs a job uses: what the driver named (device.py), what the user chose, and why one is left out.

CUDA_VISIBLE_DEVICES is not read here. The driver itself applies it, in all its forms, to what it names; a GPU's number is
its place in that list. Pure, but for `present`. Not here: asking the driver, opening a GPU (device.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...errors import ToolError, UsageError

NODES = ("/dev/nvidiactl", "/dev/dxg")  # the driver's on Linux, and under WSL
MIN_FREE = 256 << 20
MIN_DRIVER = (12, 0)  # of CUDA: the interface that libhd_cuda is built for at least (`toolchain.nvcc.MIN_VERSION`)
ALL, NONE = "all", "none"
SESSIONS = 4  # map tasks at a time on one, where nothing else is said
MIB = 1 << 20


class Gpu(NamedTuple):
    """A GPU as the driver names it.

    number  its place among those that this process may see.
    arch    as in sm_90. uuid: "" where the driver's files do not say it. memory: bytes.
    """

    number: int
    name: str
    arch: str
    memory: int
    uuid: str = ""

    def __str__(self) -> str:
        return f"GPU {self.number} ({self.name})"


class Survey(NamedTuple):
    """What there is to choose from. driver: the newest CUDA version that it serves, as in (13, 0)."""

    driver: tuple[int, int]
    gpus: tuple[Gpu, ...]


class OpenedGpu(NamedTuple):
    """A GPU whose context stands. Memory in bytes; `free` is what others left."""

    free: int
    total: int


def present() -> bool:
    """Whether this machine can have a GPU at all: two file names, nothing is loaded or run."""
    return any(os.path.exists(node) for node in NODES)


def parse(text: str) -> tuple[int, ...] | None:
    """The numbers of `--gpus`; None for all, () for none. Raises UsageError HD037."""
    word = text.strip().lower()
    if word in (ALL, NONE):
        return None if word == ALL else ()
    parts = [part.strip() for part in word.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise UsageError(f"--gpus {text!r}: must be all, none, or numbers like 0,1", code="HD037")
    numbers = tuple(map(int, parts))
    if len(set(numbers)) < len(numbers):
        raise UsageError(f"--gpus {text!r}: a GPU is named twice", code="HD037")
    return numbers


def first(numbers: tuple[int, ...] | None) -> int | None:
    """The GPU that is used first, as far as one can say without the driver; None: there is none. `numbers`: of `parse`."""
    return 0 if numbers is None else next(iter(numbers), None)


def choose(survey: Survey, numbers: tuple[int, ...] | None, environ: Mapping[str, str] = os.environ) -> list[Gpu]:
    """The GPUs of these numbers (None: all), in that order. Raises UsageError HD037 for a number that is not there."""
    if numbers is None:
        return list(survey.gpus)
    for number in numbers:
        if number >= len(survey.gpus):
            raise UsageError(f"--gpus {number}: {there_are(survey.gpus, environ)}", code="HD037")
    return [survey.gpus[number] for number in numbers]


def usable(survey: Survey, numbers: tuple[int, ...] | None, code: str) -> list[Gpu]:
    """The GPUs of these numbers that can be used, one at least, in that order.

    Raises UsageError HD037 (a number that is not there); ToolError with `code`: there is none, or the driver is too old.
    """
    if why := old_driver(survey):
        raise ToolError(f"no GPU can be used: {why}", code=code, help="install a newer NVIDIA driver")
    chosen = choose(survey, numbers)
    if not chosen:
        raise ToolError(there_are(survey.gpus), code=code, help="check CUDA_VISIBLE_DEVICES and nvidia-smi")
    return chosen


def check_present(code: str, help: str) -> None:
    """Raises ToolError with `code` where this machine can have no GPU."""
    if not present():
        raise ToolError("this machine has no GPU: there is no /dev/nvidiactl", code=code, help=help)


def there_are(gpus: Sequence[Gpu], environ: Mapping[str, str] = os.environ) -> str:
    """What there is, for a message, and whether the environment hides more."""
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    limit = f" with CUDA_VISIBLE_DEVICES={visible!r}" if visible is not None else ""
    if not gpus:
        return f"the CUDA driver names no GPU{limit}"
    last = f" to {len(gpus) - 1}" if len(gpus) > 1 else " alone"
    return f"the CUDA driver names number 0{last}{limit}"


def old_driver(survey: Survey) -> str:
    """Why no GPU can be used with this driver, "" where that is not so."""
    if survey.driver >= MIN_DRIVER:
        return ""
    has, wanted = (".".join(map(str, version)) for version in (survey.driver, MIN_DRIVER))
    return f"the driver is of CUDA {has}, {wanted} or newer is needed"


def too_full(opened: OpenedGpu) -> str:
    """Why a GPU's memory does not suffice, "" where it does."""
    if opened.free >= MIN_FREE:
        return ""
    return f"{opened.free // MIB} of {opened.total // MIB} MiB of its memory are free, {MIN_FREE // MIB} are needed"
