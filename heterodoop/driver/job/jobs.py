"""What the driver keeps of a job between its attempts: its bundle with kernels, its working folder, what failed.

Not here: the files' bytes (files.py), one attempt (tasks.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock

from ... import manifest
from ...errors import HeteroDoopError, UsageError
from ...executor.kernel.host_kernel import HostCode, HostMaps, Tries, host_code, refusal
from ...executor.kernel.prologue import Prologues
from ...executor.native.runtime import Native
from ...executor.task.cpu_task import CpuJob
from ...executor.task.streaming_env import task_timeout
from ...job.cpu import cpu_job
from ...manifest import Manifest
from ...scheduler.node.model import Side, Why
from .files import IDLE_SECONDS, Fetch, Folders, JobFile, bundle_hash
from .gpus import Codes
from .offer import Offer


@dataclass(frozen=True)
class Bundle:
    """A loaded bundle."""

    folder: Path
    manifest: Manifest
    codes: Codes

    def host_code(self, offer: Offer) -> HostCode | None:
        """The host kernel of an attempt; None: there is none. It prints what the map prints where no combiner is wanted."""
        code = host_code(self.manifest, self.folder, offer.reduces)
        return code if code is None or offer.combine else replace(code, folds=False, regroup=False)

    @property
    def no_host(self) -> str:
        """Why there is no host kernel."""
        return refusal(self.manifest)

    def cpu_job(self, offer: Offer, environment: Sequence[bytes]) -> CpuJob:
        """The job as an executor sees it, for one attempt. Raises UsageError HD616: it lacks a combiner."""
        job = cpu_job(self.manifest, self.folder, offer.conf, environment, offer.reduces, offer.split.delimiter)
        if offer.combine and job.combine is None:
            raise UsageError("the job has a combiner and its bundle has none", code="HD616")
        return replace(
            job, combine=job.combine if offer.combine else None, reduce=None, attempt_environment=True,
            timeout_seconds=task_timeout(environment),
        )


@dataclass
class Job:
    """A job that attempts came from. `unfit`: tell that none of its tasks is to have a GPU, or a host kernel, and why.
    `tries`: whether its host kernel is worth another one."""

    prologues: Prologues
    unfit: Callable[[Why, Side], None]
    tries: Tries = field(default_factory=Tries)
    attempts: int = 0
    used: float = 0.0
    files_lock: Lock = field(default_factory=Lock)  # one attempt at a time sends what is missing
    _maps: HostMaps | None = None

    def blame(self, task: str, reason: str) -> None:
        """A task made a GPU fail, and did so again when it was alone. Each further one would cost all jobs a worker."""
        self.unfit(Why(f"{task} of the job made a GPU fail: {reason}", "HD619"), "gpu")

    def host_maps(self, code: HostCode, native: Native) -> HostMaps:
        """What runs its host kernels; they share what the code before the region left."""
        maps = self._maps
        if maps is None or maps.code != code:  # the bundle's folder is another one where it was damaged
            maps = self._maps = HostMaps(code, native, self.prologues)
        return maps


class Jobs:
    """All jobs of late. Any thread may use it. `unfit`: is told of a job of which no attempt is to have one of them."""

    def __init__(self, native: Native, device: str, folders: Folders, unfit: Callable[[str, Why, Side], None]) -> None:
        self._native = native
        self._device = device
        self._folders = folders
        self._unfit = unfit
        self._jobs: dict[str, Job] = {}
        self._bundles: dict[str, tuple[Path, Bundle]] = {}  # and the folder that it was loaded from
        self._lock = Lock()
        self._loading = Lock()

    @contextmanager
    def attempt(self, name: str) -> Iterator[Job]:
        """The job, which is kept at least until the block ends."""
        with self._lock:
            job = self._jobs.setdefault(name, Job(Prologues(self._native), partial(self._unfit, name)))
            job.attempts += 1
        try:
            yield job
        finally:
            with self._lock:
                job.attempts -= 1
                job.used = time.monotonic()

    def __len__(self) -> int:
        return len(self._jobs)

    def bundle(self, offer: Offer, files: Sequence[JobFile], fetch: Fetch, used: ExitStack) -> Bundle:
        """The job's bundle, loaded once for all jobs that have it. Its folder stays until `used` ends; no other attempt gets
        the folder of one that cannot be loaded.

        Raises UsageError HD616: the files are not those of the bundle that was named. HeteroDoopError as manifest.load;
        what Folders.use raises.
        """
        if bundle_hash(files, offer.bundle_name) != offer.bundle:
            raise UsageError("the bundle's files are not those that the job was submitted with", code="HD616")
        own = [file for file in files if file.name.startswith(f"{offer.bundle_name}/")]
        for again in (True, False):
            folder = used.enter_context(self._folders.use(own, fetch))
            try:
                return self._loaded(offer.bundle, folder / offer.bundle_name)
            except HeteroDoopError as error:
                taken = not self._folders.has(folder)  # by another attempt, which found what this one finds
                damaged = not taken and self._folders.damaged(folder)
                self._folders.forget(folder)
                if not damaged and not (taken and again):  # its bytes are the right ones: it will not be another one
                    raise
                why = error.message
        raise OSError(f"the bundle's files changed while it was loaded: {why}")

    def _loaded(self, bundle: str, folder: Path) -> Bundle:
        with self._loading:
            known = self._bundles.get(bundle)
            if known is None or known[0] != folder:
                known = self._bundles[bundle] = folder, self._load(folder)
            return known[1]

    def _load(self, folder: Path) -> Bundle:
        found = manifest.load(folder)
        return Bundle(folder, found, Codes(self._device, folder, found))

    def forget_idle(self, now: float) -> list[str]:
        """Drop jobs without attempts for IDLE_SECONDS, folders and bundles that none has used; returns the jobs' names."""
        with self._lock:
            idle = [name for name, job in self._jobs.items() if not job.attempts and now - job.used > IDLE_SECONDS]
            for name in idle:
                del self._jobs[name]
        self._folders.forget_idle(now)
        with self._loading:
            self._bundles = {name: row for name, row in self._bundles.items() if self._folders.has(row[0].parent)}
        return idle
