"""Whether a job's tasks go to the devices of a driver that runs on this machine, or why the job starts workers of its own.

Not here: the driver (driver), how it is asked (executor/lent), a task's device (executor/lent_pool.py).
"""

from __future__ import annotations

from ...errors import DeviceError
from ...executor.lent import meeting
from ...executor.lent.lender import Connection
from ...job.jobconf import JobConf
from ...job.settings import DRIVER, EMULATED_WORKERS

NEVER = "the job wants none"
QUIET = (NEVER, meeting.NONE_RUNS)  # reasons that nobody needs to be told


def find(device: str, numbers: tuple[int, ...] | None, conf: JobConf) -> Connection | str:
    """A connection to the driver, which is the caller's, or why its devices are not used. `numbers`: of `--gpus`."""
    if conf.get(DRIVER) == "never":
        return NEVER
    if numbers is not None:
        return "--gpus names GPUs for workers of the job's own"
    if conf.get(EMULATED_WORKERS):
        return f"{EMULATED_WORKERS} wants workers of the job's own"
    try:
        found = Connection(meeting.folder_of())
    except DeviceError as error:
        return error.message
    if found.lender.device != device:
        found.close()
        return f"it has {found.lender.device} devices"
    return found
