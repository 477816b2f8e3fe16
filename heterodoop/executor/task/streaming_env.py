"""The environment of a filter, as Hadoop Streaming makes it: the job's settings and the task's, under names a shell takes.

(org.apache.hadoop.streaming.PipeMapRed.addJobConfToEnvironment.) The user's own environment comes first, LC_ALL and
all, then the settings, which win. Everything is bytes: names of files need not be UTF-8.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .split import Split

# Setting -> the name it had in Hadoop 1. Filters written then still ask for that one, so both are set.
OLD_NAMES: dict[str, str] = {
    "mapreduce.job.id": "mapred.job.id",
    "mapreduce.job.name": "mapred.job.name",
    "mapreduce.job.maps": "mapred.map.tasks",
    "mapreduce.job.reduces": "mapred.reduce.tasks",
    "mapreduce.job.user.name": "user.name",
    "mapreduce.map.maxattempts": "mapred.map.max.attempts",
    "mapreduce.reduce.maxattempts": "mapred.reduce.max.attempts",
    "mapreduce.task.io.sort.mb": "io.sort.mb",
    "mapreduce.task.timeout": "mapred.task.timeout",
    "mapreduce.input.fileinputformat.inputdir": "mapred.input.dir",
    "mapreduce.output.fileoutputformat.outputdir": "mapred.output.dir",
    "mapreduce.input.fileinputformat.split.minsize": "mapred.min.split.size",
    "mapreduce.input.fileinputformat.split.maxsize": "mapred.max.split.size",
    "mapreduce.map.input.file": "map.input.file",
    "mapreduce.map.input.start": "map.input.start",
    "mapreduce.map.input.length": "map.input.length",
    "mapreduce.task.attempt.id": "mapred.task.id",
    "mapreduce.task.id": "mapred.tip.id",
    "mapreduce.task.partition": "mapred.task.partition",
    "mapreduce.task.ismap": "mapred.task.is.map",
    "mapreduce.task.output.dir": "mapred.work.output.dir",
    "mapreduce.job.partitioner.class": "mapred.partitioner.class",
    "mapreduce.job.output.key.comparator.class": "mapred.output.key.comparator.class",
    "mapreduce.job.output.group.comparator.class": "mapred.output.value.groupfn.class",
    "mapreduce.map.output.key.field.separator": "map.output.key.field.separator",
    "mapreduce.partition.keypartitioner.options": "mapred.text.key.partitioner.options",
    "mapreduce.partition.keycomparator.options": "mapred.text.key.comparator.options",
    "mapreduce.output.textoutputformat.separator": "mapred.textoutputformat.separator",
    "mapreduce.output.fileoutputformat.compress": "mapred.output.compress",
    "mapreduce.output.fileoutputformat.compress.codec": "mapred.output.compression.codec",
    "mapreduce.map.memory.mb": "mapred.job.map.memory.mb",
    "mapreduce.reduce.memory.mb": "mapred.job.reduce.memory.mb",
    "mapreduce.map.failures.maxpercent": "mapred.max.map.failures.percent",
    "mapreduce.reduce.failures.maxpercent": "mapred.max.reduce.failures.percent",
    "mapreduce.map.skip.maxrecords": "mapred.skip.map.max.skip.records",
    "mapreduce.reduce.skip.maxgroups": "mapred.skip.reduce.max.skip.groups",
    "mapreduce.input.linerecordreader.line.maxlength": "mapred.linerecordreader.maxlength",
    "mapreduce.job.inputformat.class": "mapred.input.format.class",
    "mapreduce.input.keyvaluelinerecordreader.key.value.separator": "key.value.separator.in.input.line",
    "mapreduce.input.lineinputformat.linespermap": "mapred.line.input.format.linespermap",
    "mapreduce.job.outputformat.class": "mapred.output.format.class",
}


class TaskNames(NamedTuple):
    """What a filter is told about the task it runs in. `split` is None for a reduce task."""

    job_id: str  # job_<start, ms>_<number>
    is_map: bool
    number: int
    attempt: int
    output_dir: Path
    tmp_dir: Path
    split: Split | None = None

    @property
    def task_id(self) -> str:
        return f"task{self.job_id[3:]}_{'m' if self.is_map else 'r'}_{self.number:06d}"

    @property
    def attempt_id(self) -> str:
        return f"attempt{self.task_id[4:]}_{self.attempt}"


def variable_name(key: str) -> str:
    """A setting's name in the environment: every character but ASCII letters and digits becomes `_`."""
    return re.sub(r"[^0-9A-Za-z]", "_", key)


def job_environment(user: Mapping[bytes, bytes], conf: Mapping[str, str], limit: int) -> list[bytes]:
    """`NAME=VALUE` of what all tasks of a job share.

    user   the environment of the caller, passed on untouched where no setting has the same name.
    conf   the job's settings by Hadoop name; a value longer than `limit` characters is cut there, as
           stream.jobconf.truncate.limit says (-1 = never). One string above 128 KiB would stop every filter from starting.
    """
    merged = dict(user)
    for key, value in conf.items():
        for name in (OLD_NAMES.get(key), key):
            if name:
                merged[os.fsencode(variable_name(name))] = os.fsencode(value if limit < 0 else value[:limit])
    for pair in conf.get("stream.addenvironment", "").split():
        left, _, right = pair.partition("=")
        merged[os.fsencode(left)] = os.fsencode(right)
    for variable in _TASK_VARIABLES:
        merged.pop(variable, None)
    return [name + b"=" + value for name, value in merged.items() if name and b"\0" not in value]


def task_environment(task: TaskNames) -> list[bytes]:
    """`NAME=VALUE` of what is the task's own; to be appended to `job_environment`, which has none of these names."""
    values = {
        "mapreduce.task.attempt.id": task.attempt_id,
        "mapreduce.task.id": task.task_id,
        "mapreduce.task.partition": str(task.number),
        "mapreduce.task.ismap": "true" if task.is_map else "false",
        "mapreduce.task.output.dir": os.fspath(task.output_dir),
    }
    if task.split:
        values["mapreduce.map.input.file"] = task.split.file.uri
        values["mapreduce.map.input.start"] = str(task.split.start)
        values["mapreduce.map.input.length"] = str(task.split.length)
    pairs = [name + b"=" + os.fsencode(value) for key, value in values.items() for name in _TASK_NAMES[key]]
    return [*pairs, b"TMPDIR=" + os.fsencode(task.tmp_dir)]


_TASK_KEYS = (
    "mapreduce.task.attempt.id", "mapreduce.task.id", "mapreduce.task.partition", "mapreduce.task.ismap",
    "mapreduce.task.output.dir", "mapreduce.map.input.file", "mapreduce.map.input.start", "mapreduce.map.input.length",
)
# Key -> both of its names; made once, because a job may have 100,000 tasks.
_TASK_NAMES = {key: tuple(variable_name(name).encode() for name in (key, OLD_NAMES[key])) for key in _TASK_KEYS}
_TASK_VARIABLES = frozenset({b"TMPDIR", *(name for names in _TASK_NAMES.values() for name in names)})


def task_timeout(environment: Sequence[bytes]) -> float:
    """Seconds of mapreduce.task.timeout, as an attempt's environment has it; Hadoop's 600 where it has none. 0 = never."""
    name = b"mapreduce_task_timeout="
    for variable in environment:
        if variable.startswith(name) and variable[len(name):].strip().isdigit():
            return int(variable[len(name):]) / 1000
    return 600.0
