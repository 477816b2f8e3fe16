"""What the plug-in counted: totals, which Hadoop keeps as counters of file systems, and the reasons against GPUs in words.

A job loses all its counters when it has more than mapreduce.job.counters.max, and those of file systems do not count against
that (HeteroCounters.java). Here they are given their names back, in the group HeteroDoop with the details of a job that has
room for them. docs/hadoop-plugin.md lists them. Not here: asking for counters (`rest`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...hdcodes import CODES

Counters = dict[str, dict[str, int]]

GROUP = "HeteroDoop"
GPU_MAPS, EMULATED_MAPS, CPU_MAPS = "GPU_MAPS", "EMULATED_MAPS", "CPU_MAPS"
HOST_KERNEL_MAPS = "HOST_KERNEL_MAPS"  # a part of CPU_MAPS
FALLBACKS, DECLINES = "FALLBACKS", "DECLINES"
GROUPED_SPLITS = "GROUPED_SPLITS"
_FILE_SYSTEMS = "org.apache.hadoop.mapreduce.FileSystemCounter"
_TOTALS: Mapping[str, str] = {
    "HETERODOOP-GPU_READ_OPS": GPU_MAPS, "HETERODOOP-GPU_BYTES_READ": "GPU_READ_BYTES",
    "HETERODOOP-EMULATED_READ_OPS": EMULATED_MAPS, "HETERODOOP-CPU_READ_OPS": CPU_MAPS,
    "HETERODOOP-HOST_READ_OPS": HOST_KERNEL_MAPS,
    "HETERODOOP-FALLBACK_READ_OPS": FALLBACKS, "HETERODOOP-DECLINED_READ_OPS": DECLINES,
    "HETERODOOP-GROUPED_READ_OPS": GROUPED_SPLITS,
}
_OURS = "HETERODOOP-"
_FELL, _DECLINED = "FALLBACK_", "DECLINED_"

REASONS: Mapping[str, str] = {
    "FALLBACK_REFUSED": "the driver gave the task back",
    "FALLBACK_DRIVER_SILENT": "the driver fell silent",
    "FALLBACK_DRIVER_GONE": "the driver hung up or died",
    "FALLBACK_QUEUE": "it waited for the driver for longer than heterodoop.gpu.wait.max.ms",
    "FALLBACK_BAD_RESULT": "what the driver sent was no right result",
    "FALLBACK_NODE_DISK": "the disk of the task's node is full or cannot be written",
    "FALLBACK_DRIVER_DISK": "the driver's disk is full",
    "FALLBACK_OTHER": "the connection or the installation failed",
    "DECLINED_RUNNER": "mapred.map.runner.class is not the plug-in's",
    "DECLINED_BUNDLE": "the job names no bundle",
    "DECLINED_SPLIT": "the split is no part of one file",
    "DECLINED_INPUT_FORMAT": "the input format is not TextInputFormat",
    "DECLINED_COMPRESSED": "the input is compressed",
    "DECLINED_INPUT_KEY": "the filter reads the offsets of lines too",
    "DECLINED_SKIP": "bad records are skipped",
    "DECLINED_DELIMITER": "records end at a delimiter of several bytes",
    "DECLINED_COMMAND": "the map command is not the bundle's",
    "DECLINED_COMBINER": "the combiner is not the bundle's",
    "DECLINED_TYPES": "the filter's input or output is not text",
    "DECLINED_FIELDS": "the key does not end at the first tab",
    "DECLINED_COLLECTOR": "the collector of the map output is not the plug-in's",
    "DECLINED_OUTPUT_FORMAT": "the output format is another",
    "DECLINED_PARTITIONER": "the partitioner is another",
    "DECLINED_COMPARATOR": "keys have a comparator of their own",
    "DECLINED_SORT": "the sort is another",
    "DECLINED_ENCRYPTED": "the map output is encrypted",
    "DECLINED_CODEC": "the codec of the map output is another",
    "DECLINED_RETRY": "an earlier attempt of the task failed",
    "DECLINED_NO_DRIVER": "no driver listens on the node",
    "DECLINED_UNTRUSTED": "the driver's folder or socket may be another user's",
    "DECLINED_VERSION": "the driver is of another version",
    "DECLINED_DRIVER_ERROR": "the driver did not answer as it should",
}


def named(counters: Counters) -> Counters:
    """Counters as Hadoop has them, with the plug-in's under their own names."""
    systems = counters.get(_FILE_SYSTEMS, {})
    own = {name: systems[key] for key, name in _TOTALS.items() if systems.get(key)}
    own |= counters.get(GROUP, {})
    if not own:
        return counters
    rest = {key: value for key, value in systems.items() if not key.startswith(_OURS)}
    return {**counters, **({_FILE_SYSTEMS: rest} if systems else {}), GROUP: own}


def reasons(own: Mapping[str, int]) -> dict[str, int]:
    """How many attempts each reason kept from a GPU: the details of the group `own`, by name."""
    return {name: value for name, value in own.items() if name.startswith((_FELL, _DECLINED))}


def unexplained(own: Mapping[str, int]) -> bool:
    """Whether there is a reason that depends on the moment, so that a log says more of it than its name."""
    known = reasons(own)
    of_a_moment = any(name.startswith((_FELL, f"{_DECLINED}HD")) for name in known)
    return of_a_moment or own.get(FALLBACKS, 0) + own.get(DECLINES, 0) > sum(known.values())


def told(own: Mapping[str, int], sentences: Mapping[str, str]) -> list[str]:
    """A line for each reason; and one for those that only the attempts' logs have. `sentences`: by reason, from logs."""
    lines = []
    for prefix, total, what in ((_FELL, FALLBACKS, "fell back to the CPU"), (_DECLINED, DECLINES, "ran on the CPU")):
        known = {name: value for name, value in reasons(own).items() if name.startswith(prefix)}
        for name, value in sorted(known.items(), key=lambda row: -row[1]):
            lines.append(f"{_maps(value)} {what}: {words(name, sentences.get(name, ''))}")
        if (more := own.get(total, 0) - sum(known.values())) > 0:
            some = [text for name, text in sentences.items() if name.startswith(prefix) and name not in known]
            lines.append(f"{_maps(more)} {what}: {'; '.join(some) or 'the logs of their attempts say why'}")
    return lines


def _maps(count: int) -> str:
    return f"{count} map{'' if count == 1 else 's'}"


def words(name: str, sentence: str = "") -> str:
    """What a reason's counter means: what one of its attempts said, else its meaning in general."""
    code = name.removeprefix(_FELL).removeprefix(_DECLINED)
    if code in CODES:
        return f"{sentence or CODES[code].title} [{code}]"
    return sentence or REASONS.get(name, code)


def sides(own: Mapping[str, int]) -> str:
    """Where the maps ran, for people; an emulated device is no GPU, and a host kernel is on the CPU."""
    on_device, emulated = own.get(GPU_MAPS, 0), own.get(EMULATED_MAPS, 0)
    parts = [f"{on_device - emulated} GPU"] if on_device > emulated or not emulated else []
    parts += [f"{emulated} emulated"] if emulated else []
    host = own.get(HOST_KERNEL_MAPS, 0)
    as_host = f", {host} of them as host kernels" if host else ""
    return ", ".join([*parts, f"{own.get(CPU_MAPS, 0)} CPU{as_host}"])
