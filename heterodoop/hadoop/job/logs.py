"""Why a job failed, as far as the cluster kept it: the attempt, its node, split and command, and what its log ends with.

The JobHistory server names the attempts, the NodeManagers (or, on this machine, their log folders) have their logs.
Streaming itself says no more than "subprocess failed with code N". Not here: following a job (`follow`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote_plus

from ...driver.cluster.yarn_rest import Unknown
from ...storage import hdfs_causes
from ...storage.hadoop_conf import HadoopConf
from .rest import ClusterClient, TaskAttempt

TAIL_LINES = 20
ROLES = {"m": "map", "r": "reduce"}
_CONTENTS = re.compile(r"^LogContents:\n(.*?)\n?End of LogType:", re.DOTALL | re.MULTILINE)
_SPLIT = re.compile(r"Processing split: (\S.*?:[0-9]+\+[0-9]+)\s*$", re.MULTILINE)
_PART = re.compile(r"^heterodoop: attempt_\w+ failed in the split (\S.*)$", re.MULTILINE)  # of an attempt of several splits
_LEFT_GPU = re.compile(r"^heterodoop: attempt_\w+ (?:runs|goes on) on the CPU: (.*) \[([A-Z]+_\w+)\]$", re.MULTILINE)
_NOISE = re.compile(r"log4j:WARN|SLF4J|WARNING: |Unable to load native-hadoop|^\s*$")


class KnownCause(NamedTuple):
    """A cause that is met often: what the attempt says, the error's code, what it means, what to do."""

    pattern: str
    code: str
    meaning: str
    help: str


_BUILD_THERE = "compile the program on a machine with the nodes' system (or an older one) and submit that bundle"
KNOWN = (
    KnownCause(r"version `(GLIBC|GLIBCXX|CXXABI)_[\d.]+' not found|GLIBC_[\d.]+", "HD631",
          "the filter was built with a newer C library than the node has", _BUILD_THERE),
    KnownCause(r"error while loading shared libraries: (\S+?):", "HD631", "the node lacks a library of the filter",
          "link it into the filter, or install it on the nodes"),
    KnownCause(r"HD520: this filter was compiled with", "HD631",
          "the filter could not be linked statically, and the node has another C library", _BUILD_THERE),
    KnownCause(r"error=8, |[Ee]xec format error", "HD631", "the filter is no program for the node's processor",
               _BUILD_THERE),
    KnownCause(r"error=7, |Argument list too long", "HD638", "the job's settings do not fit into the filter's environment",
          "lower -D stream.jobconf.truncate.limit=20000"),
    KnownCause(r"heterodoop: HD008: there is no program (.*) on this machine", "HD008",
          "the node lacks the program of a command", "install it on the nodes, or carry it in the bundle (compile --file)"),
    KnownCause(r"(?i)running .{0,40}beyond .{0,10}(?:physical|virtual).{0,3}memory", "HD639",
          "the container used more memory than it may; the filter's counts too", "raise -D mapreduce.{role}.memory.mb"),
    KnownCause(r"Timed out after \d+ secs", "HD628", "the task said nothing for longer than it may",
          "raise -D mapreduce.task.timeout (milliseconds), or print reporter:status: lines on stderr"),
    *(KnownCause(*cause) for cause in hdfs_causes.CAUSES),
    KnownCause(r"No space left on device", "HD628", "a disk of the node is full",
               "free space there, or compress the map output"),
)


class Cause(NamedTuple):
    """The probable cause of a failure. `attempt` None: no task failed, `what` is what YARN says of the application."""

    attempt: TaskAttempt | None
    what: str
    split: str = ""
    command: str = ""
    stderr: str = ""
    known: KnownCause | None = None

    @property
    def role(self) -> str:
        return role(self.attempt.id) if self.attempt else ""

    def lines(self) -> list[str]:
        """For people."""
        found = []
        if self.attempt:
            found.append(f"attempt  {self.attempt.id} on {self.attempt.node or 'no node'}")
        found += [f"{name:8} {text}" for name, text in (("split", self.split), ("command", self.command)) if text]
        found.append(f"error    {self.what}")
        if self.known:
            found.append(f"cause    {self.known.meaning}")
        if self.stderr:
            found += ["stderr", *(f"  {line}" for line in self.stderr.splitlines())]
        return found

    @property
    def help(self) -> str:
        return self.known.help.format(role=self.role) if self.known else ""


def role(attempt: str) -> str:
    """"map" or "reduce" of an attempt's or task's id; "" for another."""
    match = re.search(r"_([mr])_[0-9]+", attempt)
    return ROLES[match[1]] if match else ""


def cause(cluster: ClusterClient, conf: HadoopConf, job: str, diagnostics: str) -> Cause:
    """The probable cause of a job's failure. Raises nothing: what nobody knows any more is left out."""
    try:
        failed = [attempt for attempt in cluster.attempts(job) if attempt.state == "FAILED"]
    except Unknown:
        failed = []
    if not failed:
        return Cause(None, summary(diagnostics), known=_known(diagnostics))
    attempt = failed[-1]
    stderr = _without_noise(log(cluster, conf, attempt, "stderr"))
    part = _PART.search(stderr)
    split = part or _SPLIT.search(log(cluster, conf, attempt, "syslog"))
    stderr = _PART.sub("", stderr)
    try:
        command = unquote_plus(cluster.setting(job, f"stream.{role(attempt.id)}.streamprocessor"))
    except Unknown:
        command = ""
    return Cause(
        attempt, summary(attempt.diagnostics), split[1] if split else "", command, tail(stderr),
        _known(attempt.diagnostics + "\n" + stderr),
    )


def sentences(cluster: ClusterClient, conf: HadoopConf, job: str) -> dict[str, str]:
    """What map attempts said when they left a GPU, by the name of the reason: of a few attempts. Raises nothing."""
    try:
        attempts = [attempt for attempt in cluster.attempts(job) if role(attempt.id) == "map"]
    except Unknown:
        return {}
    found: dict[str, str] = {}
    for attempt in attempts:
        for match in _LEFT_GPU.finditer(log(cluster, conf, attempt, "stderr")):
            found.setdefault(match[2], match[1])
    return found


def log(cluster: ClusterClient, conf: HadoopConf, attempt: TaskAttempt, name: str) -> str:
    """An attempt's log file: from the cluster's web servers, else from NodeManagers' folders on this machine; "" = gone."""
    text = cluster.log(attempt, name)
    if text:
        match = _CONTENTS.search(text)
        return match[1] if match else text
    application = attempt.id.split("_", 1)[1].rsplit("_", 3)[0]
    for folder in conf.get_list("yarn.nodemanager.log-dirs"):
        path = Path(folder) / f"application_{application}" / attempt.container / name
        if attempt.container and path.is_file():
            return path.read_text(encoding="utf-8", errors="surrogateescape")
    return ""


def summary(diagnostics: str) -> str:
    """The one line of a diagnosis that says most: of an exception its message, without Java's stack."""
    lines = [line.strip() for line in diagnostics.splitlines() if line.strip() and not line.startswith("\tat ")]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    if not lines:
        return "nobody says why"
    found = causes[-1].removeprefix("Caused by: ") if causes else lines[0].removeprefix("Error: ")
    if match := re.search(r"PipeMapRed\.waitOutputThreads\(\): subprocess failed with code (\d+)", diagnostics):
        return f"the filter ended with {exit_text(int(match[1]))}"
    return found


def exit_text(status: int) -> str:
    """A status as Java gives it: 128 + the signal for a process that a signal ended."""
    signals = {134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 137: "SIGKILL", 139: "SIGSEGV", 141: "SIGPIPE", 143: "SIGTERM"}
    return f"signal {signals[status]}" if status in signals else f"exit status {status}"


def tail(text: str, lines: int = TAIL_LINES) -> str:
    return "\n".join(text.rstrip("\n").splitlines()[-lines:])


def _without_noise(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not _NOISE.search(line))


def _known(text: str) -> KnownCause | None:
    return next((known for known in KNOWN if re.search(known.pattern, text)), None)
