"""Submit a job: look before it is submitted, hand it to Hadoop's client, follow it, say how it ended.

An output that exists is refused before anything is done; nothing is deleted, neither before nor after. An interrupt leaves
the job running. Not here: what the job is (`job_options`), how it is shown (`commands`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ... import last_resort
from ...diag import Diagnostic
from ...driver.cluster.yarn_rest import Unknown
from ...engine.terminal.progress import Display
from ...errors import HeteroDoopError, Interrupted, JobFailed, Limitation, ToolError, UsageError
from ...job import settings as names
from ...job.spec import JobSpec
from ...storage.hadoop_conf import HadoopConf
from ...storage.webhdfs import Namespace
from ..job import client, killing, logs
from ..job.client import Hadoop
from ..job.follow import SUCCEEDED, Follower, JobEnded, Say
from ..job.logs import Cause
from ..job.plugin_counters import unexplained
from ..job.rest import ClusterClient
from . import streaming
from .job_options import SubmitOptions, build
from .streaming import StreamingJob

# What does not keep a job from being submitted: Hadoop looks at its paths itself.
_NO_NAMESPACE = ("HD632", "HD635", "HD636", "HD637")


_MOST_COUNTERS = "mapreduce.job.counters.max"
_KILL_SECONDS, _ASK_SECONDS = 60.0, 10.0  # that an interrupt may take
_LOOKED_AT = 20  # inputs; of more Hadoop says itself what is missing, after seconds


class Submission(NamedTuple):
    """A job, ready to be submitted, and what to warn of."""

    hadoop: Hadoop
    job: StreamingJob
    warnings: list[Diagnostic]

    def line(self, *, background: bool) -> str:
        """The command that submits it, for a shell."""
        arguments = streaming.arguments(self.job, background=background)
        return streaming.shell_line(self.hadoop.command, self.hadoop.streaming_jar, arguments)


class Paths:
    """What of a job's paths is there; None for what nobody can say: another file system, no `hdfs` package, Kerberos."""

    def __init__(self, conf: HadoopConf) -> None:
        self._namespace: Namespace | None = None
        try:
            self._namespace = Namespace(conf)
        except (Limitation, ToolError):
            pass

    def exists(self, name: str) -> bool | None:
        if self._namespace is None:
            return None
        try:
            return self._namespace.status(self._namespace.resolve(name)) is not None
        except HeteroDoopError as error:
            if error.code in (*_NO_NAMESPACE, "HD634"):
                return None
            raise

    def close(self) -> None:
        if self._namespace is not None:
            self._namespace.close()


def plan(spec: JobSpec, options: SubmitOptions, say: Say, *, dry: bool) -> Submission:
    """Everything up to the submission. `dry`: no server is asked whether the output exists.

    Raises as `client.find` and `job_options.build`; UsageError HD020 (the output exists), HD010 (an input does not),
    ToolError HD622 (no cluster answers), Limitation HD635 (it wants a login).
    """
    hadoop = client.find()
    paths = Paths(hadoop.conf)
    try:
        job, warnings = build(spec, options, hadoop.conf, paths.exists, say)
        if not dry:
            ClusterClient(hadoop.conf).check()
            _look(paths, spec.inputs, spec.output)
    finally:
        paths.close()
    return Submission(hadoop, job, warnings)


def _look(paths: Paths, inputs: Sequence[str], output: str) -> None:
    if paths.exists(output):
        raise UsageError(f"the output folder {output} exists already", code="HD020",
                         help="name another one; nothing is ever overwritten")
    for name in inputs[:_LOOKED_AT]:
        if not set("*?[{\\") & set(name) and paths.exists(name) is False:
            raise UsageError(f"the input {name} does not exist", code="HD010", help="heterodoop fs put FILE PATH")


def submit(of: Submission) -> str:
    """Hand the job to Hadoop's client and leave it alone; returns its id. Raises as `client.submit`; Interrupted."""
    try:
        return _submit(of)
    except KeyboardInterrupt as error:
        raise _interrupted(of, getattr(error, "job", ""), kill=False) from None


def run(
    of: Submission, display: Display, say: Say, *, kill_on_exit: bool, job: str = "",
    note: Callable[[str], None] = lambda job: None,
) -> JobEnded:
    """Submit the job and follow it to its end. An interrupt leaves it running, or kills it with `kill_on_exit`.

    job   the id where it has been submitted before.
    note  is called with the id as soon as there is one.
    Raises as `client.submit`; Interrupted; ToolError HD622 for a cluster that is silent for too long.
    """
    try:
        if not job:
            job = _submit(of)
            note(job)
            after = "kills it" if kill_on_exit else f"leaves it running (heterodoop job kill {job})"
            say(f"{job} is submitted; an interrupt {after}")
        return Follower(ClusterClient(of.hadoop.conf), job, display, say, plugin=of.job.plugin is not None).wait()
    except KeyboardInterrupt as error:
        raise _interrupted(of, job or getattr(error, "job", ""), kill=kill_on_exit) from None


def _submit(of: Submission) -> str:
    """Raises client.Cut with a job that Hadoop has; of one that it has not nothing is left."""
    try:
        return client.submit(of.hadoop, streaming.arguments(of.job, background=True))
    except client.ClientInterrupted as cut:
        with last_resort.allowing(_ASK_SECONDS, "the cluster is asked whether it has the job"):
            if cut.job and killing.unsubmitted(ClusterClient(of.hadoop.conf), of.hadoop.conf, cut.job):
                raise client.ClientInterrupted("") from None
        raise


def _interrupted(of: Submission, job: str, *, kill: bool) -> Interrupted:
    if not job:
        return Interrupted("interrupted while the job was being submitted", help="heterodoop job list shows whether it was")
    if not kill:
        return Interrupted(f"interrupted; {job} goes on", help=f"heterodoop job kill {job}; heterodoop job status {job}")
    try:
        with last_resort.allowing(_KILL_SECONDS, f"{job} is being killed"):
            over = killing.kill(ClusterClient(of.hadoop.conf), of.hadoop.conf, job)
    except (Unknown, KeyboardInterrupt) as error:
        why = str(error) or "interrupted again"
        return Interrupted(f"{job} could not be killed: {why}", help=f"heterodoop job kill {job}")
    return Interrupted(f"interrupted; {job} is {'' if over else 'being '}killed")


def lost(of: Submission, end: JobEnded) -> list[Diagnostic]:
    """A warning where a job succeeded and no server has its counters."""
    if end.counters or end.state != SUCCEEDED:
        return []
    most = f"{_MOST_COUNTERS} ({of.hadoop.conf.get(_MOST_COUNTERS)})"
    return [Diagnostic(
        "warning", "HD657", f"the counters of {end.job} are lost: no server has them",
        help=f"a job with more counters than {most} loses all of them; or the JobHistory server does not answer",
    )]


def sentences(of: Submission, end: JobEnded) -> dict[str, str]:
    """What attempts said when they left a GPU, where that says more than the counters."""
    return logs.sentences(ClusterClient(of.hadoop.conf), of.hadoop.conf, end.job) if unexplained(end.plugin) else {}


def failure(conf: HadoopConf, end: JobEnded) -> tuple[Cause, JobFailed]:
    """Why a job that did not succeed did not, and the error that says so: HD628, HD629 (killed), or the cause's own code."""
    if end.state == "KILLED":
        cause = Cause(None, logs.summary(end.diagnostics))
        return cause, JobFailed(f"{end.job} was killed: {cause.what}", code="HD629", help="heterodoop job list")
    cause = logs.cause(ClusterClient(conf), conf, end.job, end.diagnostics)
    code = cause.known.code if cause.known else "HD628"
    text = "\n".join([f"{end.job} failed", *(f"  {line}" for line in cause.lines())])
    once = f"-D {names.UBER}=false: tasks in containers, tried more than once" if end.uber and not cause.known else ""
    helps = [cause.help, once, f"all logs: heterodoop job logs {end.job}"]
    return cause, JobFailed(text, code=code, help="; ".join(filter(None, helps)))
