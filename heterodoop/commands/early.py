"""`heterodoop run` starts the worker of its first GPU before it imports what a job needs.

A GPU's driver takes a tenth of a second and more to wake, PyCUDA to load, and so do our own modules: side by side they take
as long as the longest. A job that turns out to use no GPU ends the process. Imports little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine.job import device_names
from ..errors import UsageError
from ..executor.gpu import gpus
from ..toolchain import languages

if TYPE_CHECKING:
    from ..executor.worker.spawn import Early


TAIL = "tail"


@contextmanager
def worker(bundle: str, inputs: Sequence[str], options: Mapping[str, Any]) -> Iterator[Early | None]:
    """The worker of the first GPU that a job with these options of `run` would use. None where it would use no GPU, or
    where that cannot be seen at a glance; whoever plans the job starts what is missing, and says what is wrong. None is
    started for a job that the CPU is expected to have done before a GPU would be awake.

    inputs  () of a job that runs again and again.
    """
    number = _number(bundle, options)
    if number is None:
        yield None
        return
    from ..executor.worker.spawn import Early, started

    if why := _short(bundle, inputs, options):
        yield Early(None, asleep=why)
        return
    with started(device_names.CUDA, number) as early:
        yield early


def _number(bundle: str, options: Mapping[str, Any]) -> int | None:
    """Of the first GPU; None: there is none."""
    if options["device"] not in (device_names.AUTO, device_names.CUDA) or options["policy"] == "cpu-only":
        return None
    path = Path(bundle)
    if not gpus.present() or not path.is_dir() or languages.programs(path, "map"):  # an app's folder is compiled first
        return None
    if options.get("driver") != "never" and options["gpus"] == gpus.ALL and _driver_answers():
        return None
    try:
        return gpus.first(gpus.parse(options["gpus"]))
    except UsageError:
        return None


def _short(bundle: str, inputs: Sequence[str], options: Mapping[str, Any]) -> str:
    """Why no GPU is woken for the job; "" where one is."""
    if not inputs or options["device"] != device_names.AUTO or options["policy"] not in (None, TAIL):
        return ""
    from ..toolchain import short_jobs

    waking, nbytes = short_jobs.waking(), short_jobs.size_of(inputs)
    if not waking or nbytes is None:
        return ""
    seconds = short_jobs.expected(short_jobs.name_of(Path(bundle), options.__getitem__), nbytes)
    if seconds is None or seconds > waking:
        return ""
    return f"the CPU is expected to have done the map tasks in {seconds:.2g} s, and a GPU to be awake in {waking:.2g} s"


def _driver_answers() -> bool:
    """Whether a running driver will probably do."""
    from ..executor.lent import meeting

    return meeting.answers(meeting.folder_of())
