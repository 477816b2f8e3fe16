"""What the driver keeps of a job between its attempts: its bundle with kernels, its working folder, what failed.

Not here: the files' bytes (files.py), one attempt (tasks.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from .. import manifest
from ..errors import HeteroDoopError, UsageError
from ..executor.cpu_task import CpuJob
from ..executor.native import Native
from ..executor.prologue import Prologues
from ..manifest import Manifest, Role
from .files import Folders, JobFile, bundle_hash
from .gpus import Codes
from .offer import Offer

POISON = 2  # tasks that a GPU failed at, after which no other task of the job is tried
IDLE_SECONDS = 600.0  # without an attempt, after which a job is forgotten


@dataclass(frozen=True)
class Bundle:
    """A loaded bundle."""

    folder: Path
    manifest: Manifest
    codes: Codes

    def cpu_job(self, offer: Offer, environment: Sequence[bytes]) -> CpuJob:
        """The job as an executor sees it, for one attempt. Raises UsageError HD616: it lacks a combiner."""
        combine = self._binary("combine")
        if offer.combine and combine is None:
            raise UsageError("the job has a combiner and its bundle has none", code="HD616")
        program = self.manifest.program("combine")
        region = program.region if program else None
        return CpuJob(
            map=self._binary("map") or self.folder, combine=combine if offer.combine else None, reduce=None,
            regroup=bool(region and region.fold and region.fold.regroup), check=region.pairs if region else None,
            environment=environment, reducers=offer.reduces, delimiter=offer.split.delimiter,
            accept_exit_code=offer.accepts_exit_code, sort_bytes=offer.sort_bytes, reporter_prefix=offer.reporter_prefix,
            attempt_environment=True,
        )

    def _binary(self, role: Role) -> Path | None:
        program = self.manifest.program(role)
        return self.folder / program.binary if program else None


@dataclass
class Job:
    """A job that attempts came from.

    failed   tasks that a GPU failed at: they are not given to one again.
    refusal  why none of its tasks is given to a GPU, and the code of the error index.
    folders  working folders made for it, but its bundle's own.
    """

    prologues: Prologues
    bundle: str = ""
    attempts: int = 0
    used: float = 0.0
    failed: set[str] = field(default_factory=set)
    refusal: tuple[str, str] | None = None
    folders: set[Path] = field(default_factory=set)
    files_lock: Lock = field(default_factory=Lock)  # one attempt at a time sends what is missing

    def fail(self, task: str, reason: str) -> None:
        """A GPU failed at a task. A program that does so again and again would take all its GPUs along."""
        self.failed.add(task)
        if len(self.failed) >= POISON and not self.refusal:
            self.refusal = f"{len(self.failed)} tasks of the job failed on a GPU, the last: {reason}", "HD619"


class Jobs:
    """All jobs of late. Any thread may use it."""

    def __init__(self, native: Native, device: str, folders: Folders) -> None:
        self._native = native
        self._device = device
        self._folders = folders
        self._jobs: dict[str, Job] = {}
        self._bundles: dict[str, Bundle | HeteroDoopError] = {}
        self._loading: dict[str, Lock] = {}
        self._lock = Lock()

    @contextmanager
    def attempt(self, name: str) -> Iterator[Job]:
        """The job, which is kept at least until the block ends."""
        with self._lock:
            job = self._jobs.setdefault(name, Job(Prologues(self._native)))
            job.attempts += 1
        try:
            yield job
        finally:
            with self._lock:
                job.attempts -= 1
                job.used = time.monotonic()

    def __len__(self) -> int:
        return len(self._jobs)

    def bundle(self, offer: Offer, files: Sequence[JobFile], job: Job) -> Bundle:
        """The job's bundle, loaded once for all jobs that have it; its files are stored already.

        Raises UsageError HD616: the files are not those of the bundle that was named. HeteroDoopError as manifest.load.
        """
        if bundle_hash(files, offer.bundle_name) != offer.bundle:
            raise UsageError("the bundle's files are not those that the job was submitted with", code="HD616")
        with self._lock:
            job.bundle = offer.bundle
            loading = self._loading.setdefault(offer.bundle, Lock())
        with loading:
            if offer.bundle not in self._bundles:
                self._bundles[offer.bundle] = self._load(offer, files)
            found = self._bundles[offer.bundle]
        if isinstance(found, HeteroDoopError):
            raise found
        return found

    def _load(self, offer: Offer, files: Sequence[JobFile]) -> Bundle | HeteroDoopError:
        prefix = f"{offer.bundle_name}/"
        own = [file for file in files if file.name.startswith(prefix)]

        def refuse(lacking: list[JobFile]) -> None:
            raise UsageError("the bundle's files were removed meanwhile", code="HD616")

        folder = self._folders.make(own, refuse) / offer.bundle_name
        try:
            found = manifest.load(folder)
        except HeteroDoopError as error:
            return error
        return Bundle(folder, found, Codes(self._device, folder, found))

    def forget_idle(self, now: float) -> list[str]:
        """Drop jobs without attempts for IDLE_SECONDS, with their folders and bundles; returns their names."""
        with self._lock:
            idle = [name for name, job in self._jobs.items() if not job.attempts and now - job.used > IDLE_SECONDS]
            gone = [self._jobs.pop(name) for name in idle]
            used = {job.bundle for job in self._jobs.values()}
            bundles = [self._bundles.pop(job.bundle, None) for job in gone if job.bundle not in used]
            for folder in {folder for job in gone for folder in job.folders}:
                if not any(folder in job.folders for job in self._jobs.values()):
                    self._folders.forget(folder)
            for bundle in bundles:
                if isinstance(bundle, Bundle):
                    self._folders.forget(bundle.folder.parent)
        return idle
