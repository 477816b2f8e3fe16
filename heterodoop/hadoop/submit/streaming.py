"""A job as the arguments of `hadoop jar hadoop-streaming.jar`: pure, so that a dry run prints what a real one runs.

The plug-in's classes come by three settings and the input format. `-mapper` names streaming's PipeMapper as a class: with
a command there, StreamJob would put its own MapRunnable in the place of ours (StreamJob.setJobConf); the command goes
where StreamJob would have put it, URL-encoded. Hadoop cuts commands at blanks and knows no escapes
(StreamUtil.splitArgs / PipeMapRed.splitArgs), so filters have names that need none. Not here: what is a sound job
(`job_options`), running it (`submission`).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus

from ...job import settings as names
from ...job.setting import Party

PLUGIN = "org.heterodoop.mr"
INPUT_FORMAT = f"{PLUGIN}.HeteroInputFormat"
OUTPUT_FORMAT = f"{PLUGIN}.HeteroOutputFormat"
MAP_RUNNER = f"{PLUGIN}.HeteroMapRunner"
COLLECTORS = f"{PLUGIN}.HeteroCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer"
PIPE_MAPPER = "org.apache.hadoop.streaming.PipeMapper"

# What says that the plug-in is used, and how: a job that set one of these itself would not be the job that it seems.
PLUGIN_SETTINGS: Mapping[str, str] = {
    names.MAP_RUNNER: MAP_RUNNER,
    names.COLLECTOR: COLLECTORS,
    names.MAP_OUTPUT: "text",  # makes StreamJob set the map output's types although -mapper is a class
}


@dataclass(frozen=True)
class Shipped:
    """A file or archive that goes to the tasks' working folders under `name`. `sha256` "": unknown."""

    address: str
    name: str
    sha256: str = ""

    def __str__(self) -> str:
        return self.address if self.address.rsplit("/", 1)[-1] == self.name else f"{self.address}#{self.name}"


@dataclass(frozen=True)
class StreamingJob:
    """All that a submission says.

    bundle          archive of the bundle; its name is that of a folder in the tasks' working folders.
    bundle_sha256   of the files in it (`archive.bundle_sha256`).
    plugin          the plug-in's jar; None: a plain streaming job of the CPU filters.
    input_format    "" for TextInputFormat, the only one that the plug-in is given: what others make of a file, and what of
                    it streaming hands to a filter, stays streaming's own.
    combiner, reducer   whether the bundle has one that the job uses.
    settings        the user's -D, which come last but for what belongs to the plug-in.
    environment     -cmdenv NAME=VALUE.
    inputs, output  as Hadoop understands them (`hadoop_path`).
    joined          whether one process of the map filter may read several splits (`grouping.joined`).
    """

    bundle: Shipped
    bundle_sha256: str
    plugin: str | None
    combiner: bool
    reducer: bool
    inputs: tuple[str, ...]
    output: str
    reducers: int
    name: str = ""
    queue: str = ""
    policy: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    environment: tuple[str, ...] = ()
    files: tuple[Shipped, ...] = ()
    archives: tuple[Shipped, ...] = ()
    libjars: tuple[str, ...] = ()
    partitioner: str = ""
    input_format: str = ""
    output_format: str = ""
    joined: bool = False

    def command(self, role: str) -> str:
        """The command line of a filter, in a task's working folder."""
        return f"{self.bundle.name}/bin/{role}"


def arguments(job: StreamingJob, *, background: bool = False) -> list[str]:
    """What follows `hadoop jar hadoop-streaming.jar`: generic options first, as GenericOptionsParser wants them.

    background  Hadoop's client ends as soon as the job is submitted.
    """
    return [*_generic(job), *_streaming(job), *(["-background"] if background else [])]


def _generic(job: StreamingJob) -> list[str]:
    jars = [*([job.plugin] if job.plugin else []), *job.libjars]
    argv = ["-libjars", ",".join(jars)] if jars else []
    if job.files:
        argv += ["-files", ",".join(map(str, job.files))]
    argv += ["-archives", ",".join(map(str, (job.bundle, *job.archives)))]
    for key, value in settings(job).items():
        argv += ["-D", f"{key}={value}"]
    return argv


def settings(job: StreamingJob) -> dict[str, str]:
    """The -D of the job, in order."""
    found = {names.NAME: job.name} if job.name else {}
    if job.queue:
        found[names.QUEUE] = job.queue
    found[names.REDUCES] = str(job.reducers)
    found[names.TRUNCATE] = names.SETTINGS[names.TRUNCATE].default_for(Party.SUBMIT)
    if job.plugin:
        found[names.SPECULATIVE] = names.SETTINGS[names.SPECULATIVE].default_for(Party.SUBMIT)
    found.update(job.settings)
    return found | (_plugin_settings(job) if job.plugin else {})


def _plugin_settings(job: StreamingJob) -> dict[str, str]:
    found = {
        **PLUGIN_SETTINGS,
        names.MAP_COMMAND: quote_plus(job.command("map")),
        names.BUNDLE: job.bundle.name,
        names.BUNDLE_SHA256: job.bundle_sha256,
    }
    hashes = [f"{file.name}={file.sha256}" for file in job.files if file.sha256 and not set(file.name) & set(",=")]
    if hashes:
        found[names.FILES_SHA256] = ",".join(hashes)
    if job.joined:
        found[names.GROUP_JOINED] = "true"
    if job.policy:
        found[names.POLICY] = job.policy
    return found


def _streaming(job: StreamingJob) -> list[str]:
    argv = ["-inputformat", INPUT_FORMAT] if job.plugin else _given("-inputformat", job.input_format)
    if job.plugin and job.reducers == 0 and not job.output_format:
        argv += ["-outputformat", OUTPUT_FORMAT]
    else:
        argv += _given("-outputformat", job.output_format)
    argv += _given("-partitioner", job.partitioner)
    argv += ["-mapper", PIPE_MAPPER if job.plugin else job.command("map")]
    if job.combiner and job.reducers != 0:
        argv += ["-combiner", job.command("combine")]
    if job.reducers == 0:
        argv += ["-reducer", "NONE"]
    elif job.reducer:
        argv += ["-reducer", job.command("reduce")]
    for variable in job.environment:
        argv += ["-cmdenv", variable]
    for path in job.inputs:
        argv += ["-input", path]
    return [*argv, "-output", job.output]


def _given(option: str, value: str) -> list[str]:
    return [option, value] if value else []


def shell_line(hadoop: str, jar: Path, arguments: Sequence[str]) -> str:
    """The submission as a command for a POSIX shell, an option a line."""
    words = [hadoop, "jar", str(jar), *arguments]
    # Java takes arguments for what the locale says: outside of UTF-8 every other letter would become a question mark.
    line = "" if all(word.isascii() for word in words) else "LC_ALL=C.UTF-8 "
    line += " ".join(shlex.quote(word) for word in words[:3])
    for word in arguments:
        line += (" \\\n  " if word.startswith("-") else " ") + shlex.quote(word)
    return line
