"""A job of a cluster that runs again and again: a round's output in HDFS is the next round's side file.

Each round is an ordinary streaming job (`submission`) with an output of its own below OUT.rounds (`rounds`). Its part files
are joined here, on the machine that submits, and shipped with the next round as any `--file`. An interrupt leaves the
round's job running; the same command finds it again, by its noted id or its tag, and goes on from there. Not here: when
it is enough (job/stopping.py), what is shown (`commands`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ... import last_resort, scratch
from ...diag import Diagnostic
from ...driver.cluster.yarn_rest import Unknown
from ...engine.terminal.progress import make_display
from ...engine.terminal.signals import StopSignals
from ...errors import HeteroDoopError, Interrupted, JobFailed, Limitation, ToolError, UsageError
from ...job import jobconf
from ...job.iterate import Iteration, SideFile
from ...job.rounds import Rounds, identity
from ...job.runner import Shown
from ...job.settings import COMPRESS, ROUND, ROUNDS, TAGS, UNTIL
from ...job.spec import JobSpec
from ...job.stopping import StopRules
from ...storage.webhdfs import Namespace
from ..job.follow import SUCCEEDED, JobEnded, Say
from ..job.logs import Cause
from ..job.rest import ClusterClient
from ..submit import archive, patterns, submission
from ..submit.job_options import SubmitOptions
from ..submit.streaming import Shipped
from ..submit.submission import Submission
from .hdfs import HdfsStore

FAILED = "failed"
_COMMIT_SECONDS = 20.0  # that an interrupt may take

# Settings that say where and in what pieces tasks run, with how much memory and time: they may change between rounds.
_FREE = re.compile(
    r"heterodoop\.|yarn\.|mapreduce\.(?:map|reduce)\.(?:memory\.|java\.|cpu\.|maxattempts|speculative)"
    r"|mapreduce\.job\.(?:maps|tags|priority|ubertask\.)|mapreduce\.task\.(?:timeout|io\.)|mapreduce\.am\.|yarn\.app\."
    r"|mapreduce\.input\.fileinputformat\.split\."
)


class IterateResult(NamedTuple):
    """`ended`: the last round's job; `iterate`: all rounds that are done; `failure`: why the last one failed, else None.

    warnings  what there is to say at the end.
    """

    ended: JobEnded
    iterate: dict[str, Any]
    warnings: list[Diagnostic]
    failure: tuple[Cause, JobFailed] | None


class Iterated:
    """An iterated job, looked at and ready to run."""

    def __init__(self, spec: JobSpec, options: SubmitOptions, say: Say, *, dry: bool) -> None:
        """Raises as `submission.plan` and `Namespace`; UsageError HD031 (a compressed output), HD040, HD041."""
        wish = spec.again
        if wish is None:
            raise ValueError("a job that runs once has no rounds")
        self.plan = submission.plan(spec, options, say, dry=dry)
        given = [f"{key}={value}" for key, value in self.plan.job.settings.items() if key in (ROUNDS, UNTIL)]
        conf = jobconf.parse(given, wish.options)
        self.stop = StopRules.of(wish, conf)
        self.warnings = [*self.plan.warnings, *conf.warnings]
        self.name = wish.side_file
        found = [file for file in self.plan.job.files[: len(spec.files)] if file.name == self.name and file.sha256]
        if not found:
            raise wish.missing()
        self.first = found[0]
        _check_plain(self.plan)
        self._spec = spec
        self._space = Namespace(self.plan.hadoop.conf)
        self._store = HdfsStore(self._space, self._space.resolve(spec.output))

    def close(self) -> None:
        self._space.close()

    def line(self) -> str:
        """The command that submits the first round, for a shell."""
        return self._round_plan(1, self.first).line(background=False)

    def identity(self) -> dict[str, Any]:
        job = self.plan.job
        kept = sorted(f"{key}={value}" for key, value in job.settings.items() if not _FREE.match(key))
        streaming = [job.partitioner, job.input_format, job.output_format, *job.libjars, *job.environment]
        files = {file.name: file.sha256 or file.address for file in (*job.files, *job.archives)}
        return identity(
            self._spec.bundle, [[name, *self._stamp(name)] for name in self._spec.inputs], files, self.name,
            [*kept, str(job.reducers), *streaming],
        )

    def run(self, shown: Shown, *, kill_on_exit: bool) -> IterateResult:
        """Run rounds until the criterion is met, the output is the side file again, or so many were run.

        Raises as `submission.run`, but for a round's failure, which is returned; UsageError HD042, HD043; JobFailed HD044,
        HD406; ToolError HD046 (nobody knows a round's counters). What was done is kept in OUT.rounds, except where the
        first round could not be run.
        """
        rounds = Rounds(self._store)
        try:
            rounds.open(self.identity())
        except KeyboardInterrupt:
            raise Interrupted("interrupted", help="the same command goes on") from None
        run, keep = _Run(self, self._store, rounds, shown, kill_on_exit), True
        try:
            with _folder() as folder:
                return run.result(folder)
        except KeyboardInterrupt:
            kept = f"interrupted; the rounds are kept in {self._store.where}"
            raise Interrupted(kept, help="the same command goes on there") from None
        except (JobFailed, UsageError, Limitation):
            keep = run.submitted
            raise
        finally:
            rounds.close(keep=keep)

    def _round_plan(self, number: int, side: Shipped, tag: str = "") -> Submission:
        job = self.plan.job
        files = tuple(side if file == self.first else file for file in job.files)
        tags = ",".join(filter(None, (job.settings.get(TAGS, ""), tag)))
        settings = {**job.settings, ROUND: str(number), **({TAGS: tags} if tags else {})}
        return self.plan._replace(job=replace(job, files=files, settings=settings, output=self._store.output(number)))

    def round_job(self, number: int, side: Shipped) -> Submission:
        """The plan of a round, tagged so that it can be found again."""
        return self._round_plan(number, side, self._store.tag(number))

    def _stamp(self, name: str) -> tuple[int, str]:
        """How many files an input has, and a hash of their names, sizes, times. Of other file systems nothing is known."""
        try:
            found = patterns.files(self._space, self._space.resolve(name))
        except HeteroDoopError as error:
            if error.code not in ("HD634", "HD637"):
                raise
            found = []
        told = json.dumps([(entry.name, entry.size, entry.modified) for entry in found])
        return len(found), hashlib.sha256(told.encode()).hexdigest()


class _RoundFailed(Exception):
    """Its job did not succeed."""

    def __init__(self, ended: JobEnded) -> None:
        self.ended = ended


class _Run:
    """The rounds of one call. `submitted`: there is a job of them, which may be running."""

    def __init__(self, job: Iterated, store: HdfsStore, rounds: Rounds[JobEnded], shown: Shown, kill_on_exit: bool) -> None:
        self._job, self._store, self._rounds, self._shown, self._kill = job, store, rounds, shown, kill_on_exit
        self._cluster = ClusterClient(job.plan.hadoop.conf)
        self.submitted = False

    def result(self, folder: Path) -> IterateResult:
        first = self._job.first
        side = SideFile(Path(first.address), first.sha256)
        loop = Iteration(self._rounds, self._job.stop, first.name, side, folder / first.name, self._shown.tell)
        try:
            stopped = loop.run(self._round)
        except _RoundFailed as failed:
            return IterateResult(failed.ended, loop.summary(FAILED), [], self._failure(failed.ended))
        with StopSignals(), last_resort.allowing(_COMMIT_SECONDS, "the output is being put in place"):  # too late to stop
            self._store.commit(len(self._rounds.done))
        return IterateResult(self._rounds.done[-1], loop.summary(stopped), loop.unmet(stopped), None)

    def _round(self, number: int, side: SideFile) -> JobEnded:
        """Run a round, or take up the job of it that an earlier command started. Raises _RoundFailed."""
        plan = self._job.round_job(number, Shipped(str(side.path), self._job.first.name, side.sha256))
        job = self._begun(number)
        ended = self._follow(plan, number, job) if job else None
        if ended and not (ended.state == SUCCEEDED and self._store.has_output(number)):
            self._shown.say(f"{ended.job}, round {number} of an earlier command, ended {ended.state}: the round runs again")
            ended = None
        if ended is None:
            self._store.clear(number)
            ended = self._follow(plan, number, "")
        if ended.state != SUCCEEDED:
            raise _RoundFailed(ended)
        self._check_known(ended, number)
        return ended

    def _begun(self, number: int) -> str:
        """The job of a round that an earlier command submitted, as far as the cluster knows it; "" = none."""
        try:
            noted = self._store.noted(number)
            if noted and (self._cluster.app(noted) or self._cluster.history(noted)):
                return noted
        except Unknown as error:
            raise self._cluster.unreachable(error) from None
        tagged = self._cluster.apps(self._cluster.user, tag=self._store.tag(number))
        return tagged[0].job if tagged else ""

    def _follow(self, plan: Submission, number: int, job: str) -> JobEnded:
        def note(submitted: str) -> None:
            self.submitted = True
            self._store.note(number, submitted)

        if job:
            self.submitted = True
            self._shown.say(f"round {number}: {job}, which an earlier command submitted")
        try:
            display = make_display(sys.stderr, quiet=not self._shown.progress)
            return submission.run(plan, display, self._shown.say, kill_on_exit=self._kill, job=job, note=note)
        except Interrupted as error:
            goes_on = "no other round starts; the same command goes on, with what this job makes if it is left running"
            help = "; ".join(filter(None, (goes_on, error.help)))
            raise Interrupted(f"round {number}: {error.message}", help=help) from None

    def _check_known(self, ended: JobEnded, number: int) -> None:
        """Counters that nobody knows would all be 0, and the criterion may be met by that."""
        if self._job.stop.until and not ended.counters:
            raise ToolError(
                f"round {number}: {ended.job} succeeded, but no server says its counters, so nobody knows whether that is"
                f" enough: --until {self._job.stop.until}",
                code="HD046", help="look at the JobHistory server; the same command goes on with what the job made",
            )

    def _failure(self, ended: JobEnded) -> tuple[Cause, JobFailed]:
        number = self._rounds.next
        cause, error = submission.failure(self._job.plan.hadoop.conf, ended)
        help = "; ".join(filter(None, [error.help, self._rounds.kept(number)]))
        if number == 1:
            self._store.discard()
        return cause, JobFailed(f"round {number}: {error.message}", code=error.code, help=help)


def _check_plain(plan: Submission) -> None:
    if (plan.job.settings.get(COMPRESS) or plan.hadoop.conf.get(COMPRESS)).lower() == "true":
        raise UsageError(
            f"{COMPRESS} is true: a round's output is the next one's side file, which programs read as it is", code="HD031",
            help=f"-D {COMPRESS}=false",
        )


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """For the side file; its path needs no escapes for Hadoop's client."""
    with scratch.folder("round-", archive.shelf("rounds")) as folder:
        yield folder
