"""Job settings: `-D key=value` as in Hadoop. Which keys are honoured, which are refused; the rest goes to the filters.

SETTINGS and REFUSED are the tables; docs/job-settings.md is printed from them (`python -m heterodoop.engine.job.jobconf`).
A setting that would change the result and is not supported is refused: ignoring it would be a silent wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...diag import Diagnostic
from ...errors import UsageError
from ...executor.gpu.gpus import SESSIONS
from ...executor.task.cpu_task import LEAST_LINE, LINE_MAX
from ...executor.task.split import SPLIT_BYTES, SplitSize
from ...executor.task.streaming_env import OLD_NAMES
from ...storage.inputs import AS_TEXT

MAX_REDUCERS = 100_000
MAX_BYTES = 1 << 62
MAX_SPLIT = "mapreduce.input.fileinputformat.split.maxsize"
MIN_SPLIT = "mapreduce.input.fileinputformat.split.minsize"
MAX_LENGTH = "mapreduce.input.linerecordreader.line.maxlength"
HOST_KERNELS = "heterodoop.host.kernels"
DRIVER = "heterodoop.gpu.driver"
NO_LIMIT = (1 << 31) - 1  # Hadoop's default

_NEW_NAMES = {old: new for new, old in OLD_NAMES.items()}
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}


def _integer(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text.strip()):
            raise ValueError("must be a whole number")
        value = int(text)
        if not low <= value <= high:
            raise ValueError(f"must be from {low} to {high}")
        return value

    return parse


def _boolean(text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError("must be true or false")
    return text.strip().lower() == "true"


def _choice(*names: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.strip() not in names:
            raise ValueError(f"must be {', '.join(names[:-1])} or {names[-1]}")
        return text.strip()

    return parse


def _text(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def _delimiter(text: str) -> bytes:
    return _text(text).encode("utf-8", "surrogateescape")


class Setting(NamedTuple):
    """A key that the engine honours. `default` as text; "" = decided per job, as `doc` says."""

    key: str
    default: str
    parse: Callable[[str], Any]
    doc: str


SETTINGS: dict[str, Setting] = {s.key: s for s in (
    Setting("mapreduce.job.name", "", str, "Name of the job (default: the bundle's)."),
    Setting("mapreduce.job.reduces", "", _integer(0, MAX_REDUCERS),
            "Reduce tasks; 0 = the map output is the result (default: 1 where the bundle has a reducer, else 0)."),
    Setting("mapreduce.job.maps", "", _integer(0, 1 << 31),
            "A hint, as in Hadoop: splits are at most input bytes / maps long."),
    Setting(MIN_SPLIT, "1", _integer(0, MAX_BYTES),
            "Smallest split in bytes; wins over every upper limit."),
    Setting(MAX_SPLIT, "", _integer(1, MAX_BYTES),
            "Largest split in bytes (default: a 32nd of the input in whole MiB, from 4 MiB to 64 MiB; 64 MiB where"
            " split.minsize or mapreduce.job.maps is set)."),
    Setting("textinputformat.record.delimiter", "", _delimiter,
            r"End of a record, taken as it is, instead of \n, \r\n and \r (--record-delimiter understands escapes)."),
    Setting(AS_TEXT, "false", _boolean,
            "Whether SequenceFiles, Parquet, Avro and ORC files and archives are read as lines; else they are refused"
            " (HD047)."),
    Setting("heterodoop.line.max.bytes", str(LINE_MAX), _integer(LEAST_LINE, MAX_BYTES),
            "Bytes of the longest record of the input (HD051), and of the longest line that a filter may print (HD052)."),
    Setting(MAX_LENGTH, str(NO_LIMIT), _integer(1, NO_LIMIT),
            "Records of so many bytes, their ends included, are passed over without a word, as in Hadoop."),
    Setting("mapreduce.map.maxattempts", "4", _integer(1, 1000), "Times a map task is tried before the job fails."),
    Setting("mapreduce.reduce.maxattempts", "4", _integer(1, 1000), "Times a reduce task is tried before the job fails."),
    Setting("mapreduce.task.io.sort.mb", "100", _integer(1, 2047),
            "Memory in MiB that one task's sort or merge may hold; beyond it spills to disk."),
    Setting("heterodoop.sort.bytes", "0", _integer(0, 2047 << 20),
            "The same limit in bytes, where not 0 (for tests of spilling)."),
    Setting(HOST_KERNELS, "true", _boolean,
            "Whether CPU slots run a map, with its combiner where that is understood, as a program that reads its split"
            " itself, a host kernel, and a reducer as another, where the bundle has them; else as filters (--filters). The"
            " bytes are the same."),
    Setting("heterodoop.gpu.sub-split.bytes", "0", _integer(0, MAX_BYTES),
            "Input bytes per kernel launch on a device; 0 = chosen from its memory."),
    Setting("heterodoop.gpu.arena.bytes", "0", _integer(0, MAX_BYTES),
            "First room for a launch's output on a device; where it is too small it grows and the launch is repeated;"
            " 0 = chosen from the input."),
    Setting("heterodoop.gpu.check", "auto", _choice("auto", "none", "sample", "first", "all"),
            "What a device did that the CPU does too, to compare: `sample`, of the first map task the first 256 KiB of"
            " the split, which the device does once more by themselves; `first`, all of the first map task; `all`, every"
            " map task; `none`; `auto`, `none`: a kernel checks itself that it reads only what its record has written, so"
            " that nothing has to be compared for the bytes to be right. A sample is soon done, and finds what shows in"
            " it: records further on that differ are found by `first` (in that task) and `all`. Where there can be no"
            " sample (a compressed file, a split of no more than 256 KiB, a program that fails on a part of its split,"
            " or that the device cannot run on it), `sample` is `first`. A task that is compared costs the CPU's time for"
            " it; the tasks beside the first one wait for the verdict. Where the results differ the CPU does that task"
            " and the rest of the job, and a warning (HD414) says so. With `none` the output is what the device made."),
    Setting("heterodoop.gpu.ingest.threads", "0", _integer(0, 256),
            "Threads that read the input of a map task on a device; 0 = chosen from the cores, at most 12. Where a GPU is"
            " used, so many processors per GPU have no CPU slot by default (0: 4 of them, at most half of the processors in"
            " all)."),
    Setting("heterodoop.gpu.sessions", str(SESSIONS), _integer(1, 16),
            "Map tasks that run on a GPU at a time: some are read or written while others compute."),
    Setting("heterodoop.gpu.keep.percent", "50", _integer(0, 90),
            "Of a GPU's memory, for input that stays there from round to round of `--iterate`; a task that lacks memory gets"
            " it back. 0 = nothing stays."),
    Setting("heterodoop.gpu.hang.seconds", "30", _integer(1, 1 << 31),
            "A map task on a GPU that makes no progress for so long, and for 20 times what earlier ones took, is taken to"
            " hang: its worker process is killed, and the task runs again."),
    Setting("heterodoop.gpu.faults", "3", _integer(1, 1000),
            "Faults after which a GPU gets no more tasks of the job."),
    Setting(DRIVER, "auto", _choice("auto", "never"),
            "Whether map tasks use the GPUs of a driver of this user that runs on this machine (`heterodoop driver start`),"
            " whose workers stay awake between jobs (--driver). `auto`: where one does, and a job's own workers would run in"
            " the same way; `never`: always workers of the job's own. Their number, and what becomes of a GPU that fails, is"
            " then the driver's: it does not ask for heterodoop.gpu.sessions and heterodoop.gpu.faults."),
    Setting("heterodoop.emulated.slots", "0", _integer(0, 256),
            "Map tasks at a time on the emulated device; 0 = one, or, where it runs them all, as many as there are CPU"
            " slots."),
    Setting("heterodoop.emulated.workers", "0", _integer(0, 64),
            "Worker processes for the emulated device, as a GPU has one; 0 = it runs in the engine's process."),
    Setting("heterodoop.emulated.order", "forward", _choice("forward", "reverse", "random"),
            "Which lanes of the emulated device run first."),
    Setting("heterodoop.emulated.seed", "0", _integer(0, (1 << 63) - 1), "Seed of the order `random`."),
    Setting("heterodoop.emulated.pattern", "0", _integer(0, 255),
            "Byte that private memory on the emulated device holds before the program writes it."),
    Setting("heterodoop.emulated.memory.bytes", "0", _integer(0, MAX_BYTES),
            "Memory of the emulated device; 0 = no limit."),
    Setting("stream.non.zero.exit.is.failure", "true", _boolean,
            "Whether a filter that exits with a status other than 0 fails its task."),
    Setting("stream.jobconf.truncate.limit", "20000", _integer(-1, 1 << 31),
            "Longest value of a setting, in characters, that filters see in their environment; -1 = no limit."),
    Setting("stream.stderr.reporter.prefix", "reporter:", _text,
            "How stderr lines begin that are counters or status, not log."),
    Setting("stream.addenvironment", "", str,
            "More environment for the filters: NAME=VALUE NAME=VALUE, no blanks in values (-cmdenv)."),
    Setting("heterodoop.iterate.rounds", "", _integer(1, 1_000_000),
            "Rounds of `--iterate` at most (--rounds; default: 100). Each round's filters find its number, from 1, in"
            " `heterodoop_iterate_round`."),
    Setting("heterodoop.iterate.until", "", str, "When `--iterate` is done (--until): `GROUP:COUNTER<NUMBER`."),
    Setting("mapreduce.task.timeout", "600000", _integer(0, 1 << 62),
            "Milliseconds without progress after which a task's attempt fails; 0 = never. Progress is bytes, records, pairs,"
            " lines on stderr."),
)}


class Refusal(NamedTuple):
    """`allowed`: values that ask for what the engine does anyway, and are taken."""

    allowed: tuple[str, ...]
    why: str


_FIELDS = Refusal(("1",), "the key is always the text up to the first tab")
_SEPARATOR = Refusal(("\t",), "key and value are always separated by a tab")
_ORDER = Refusal((), "keys are always sorted and grouped by their bytes, as Hadoop's Text")
_LINES = Refusal(("text", "org.apache.hadoop.streaming.io.TextInputWriter"), "filters are always fed and read as text lines")
_PATHS = Refusal((), "inputs and output are named as arguments")
_PROGRAM = Refusal((), "the filters are those of the bundle")
_NONE = Refusal(("0",), "every record and every task counts; none is skipped")
_OFF = Refusal(("false",), "the output is plain text files and an empty _SUCCESS")

REFUSED: dict[str, Refusal] = {
    "stream.num.map.output.key.fields": _FIELDS,
    "stream.num.reduce.output.key.fields": _FIELDS,
    "stream.map.output.field.separator": _SEPARATOR,
    "stream.reduce.output.field.separator": _SEPARATOR,
    "stream.map.input.field.separator": _SEPARATOR,
    "stream.reduce.input.field.separator": _SEPARATOR,
    "mapreduce.output.textoutputformat.separator": _SEPARATOR,
    "stream.map.input.ignoreKey": Refusal(("true",), "the map filter sees the record alone"),
    "stream.map.input": _LINES,
    "stream.map.output": _LINES,
    "stream.reduce.input": _LINES,
    "stream.reduce.output": _LINES,
    "stream.io.identifier.resolver.class": _LINES,
    "stream.recordreader.class": _LINES,
    "stream.map.streamprocessor": _PROGRAM,
    "stream.combine.streamprocessor": _PROGRAM,
    "stream.reduce.streamprocessor": _PROGRAM,
    "mapreduce.job.map.class": _PROGRAM,
    "mapreduce.job.combine.class": _PROGRAM,
    "mapreduce.job.reduce.class": _PROGRAM,
    "mapreduce.job.partitioner.class": Refusal(
        ("org.apache.hadoop.mapred.lib.HashPartitioner", "org.apache.hadoop.mapreduce.lib.partition.HashPartitioner"),
        "keys always go to reducers by Hadoop's HashPartitioner"),
    "mapreduce.partition.keypartitioner.options": Refusal((), "keys always go to reducers by Hadoop's HashPartitioner"),
    "mapreduce.job.output.key.comparator.class": _ORDER,
    "mapreduce.partition.keycomparator.options": _ORDER,
    "mapreduce.job.output.group.comparator.class": _ORDER,
    "mapreduce.job.combiner.group.comparator.class": _ORDER,
    "mapreduce.job.inputformat.class": Refusal(("org.apache.hadoop.mapred.TextInputFormat",), "input is always text"),
    "mapreduce.job.outputformat.class": Refusal(("org.apache.hadoop.mapred.TextOutputFormat",), "output is always text"),
    "mapreduce.output.fileoutputformat.compress": _OFF,
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": Refusal(("true",), "_SUCCESS is always written"),
    "mapreduce.map.skip.maxrecords": _NONE,
    "mapreduce.reduce.skip.maxgroups": _NONE,
    "mapreduce.map.failures.maxpercent": _NONE,
    "mapreduce.reduce.failures.maxpercent": _NONE,
    "mapreduce.input.fileinputformat.input.dir.recursive": Refusal(("false",), "folders are read one level deep"),
    "mapreduce.input.pathFilter.class": Refusal((), "hidden names are skipped, nothing else"),
    "mapreduce.input.fileinputformat.inputdir": _PATHS,
    "mapreduce.output.fileoutputformat.outputdir": _PATHS,
}


class JobConf(NamedTuple):
    """All settings of a job by Hadoop name (`text`), the honoured ones parsed (`get`), and what to warn of."""

    text: Mapping[str, str]
    warnings: tuple[Diagnostic, ...]

    def get(self, key: str) -> Any:
        """Parsed value of a honoured key; None where it has no default and was not set."""
        setting = SETTINGS[key]
        value = self.text.get(key, setting.default)
        return setting.parse(value) if value else None

    @property
    def sort_bytes(self) -> int:
        exact: int = self.get("heterodoop.sort.bytes")
        return exact or self.get("mapreduce.task.io.sort.mb") << 20

    @property
    def skip_from(self) -> int:
        """Length from which records are passed over; 0: none is."""
        length: int = self.get(MAX_LENGTH)
        return 0 if length == NO_LIMIT else length

    @property
    def split_size(self) -> SplitSize:
        """Where a user says something about it, the rest is Hadoop's."""
        maps = self.get("mapreduce.job.maps") or 0
        said = maps or MIN_SPLIT in self.text
        return SplitSize(self.get(MAX_SPLIT) or (SPLIT_BYTES if said else 0), self.get(MIN_SPLIT), maps=maps)


def parse(definitions: Sequence[str], options: Mapping[str, tuple[str, str]]) -> JobConf:
    """Settings of `-D` and of the command line's own options.

    definitions  `key=value`, the last of a key wins; old names (mapred.reduce.tasks) stand for the new ones.
    options      key -> (option's name for messages, value); an option wins over a -D, with a warning if they differ.
    Raises UsageError HD030 (no `key=value`, or a value that cannot be), HD031 (a setting that is not supported).
    """
    text: dict[str, str] = {}
    warnings: list[Diagnostic] = []
    for definition in definitions:
        key, value = _definition(definition)
        _refuse(key, value)
        text[key] = value
    for key, (option, value) in options.items():
        _value(key, value, option)
        if key in text and text[key].strip() != value:
            warnings.append(Diagnostic("warning", "HD034", f"{option} {value} wins over -D {key}={text[key]}"))
        text[key] = value
    for key, value in text.items():
        if key in SETTINGS:
            _value(key, value, f"-D {key}")
    return JobConf(text, tuple(warnings))


def parse_size(text: str, option: str) -> int:
    """Bytes of `64m`, `1g`, `4096`; raises UsageError HD032 naming the option."""
    match = re.fullmatch(r"([0-9]{1,18})([bkmgt]?)(?:i?b)?", text.strip().lower())
    if not match or not 1 <= (nbytes := int(match[1]) * _UNITS[match[2]]) <= MAX_BYTES:
        raise UsageError(f"{option} {text!r}: must be a number of bytes from 1, like 4096, 64m or 1g", code="HD032")
    return nbytes


def parse_count(text: str, option: str, low: int, high: int) -> int:
    """A whole number; raises UsageError HD032 naming the option."""
    try:
        return _integer(low, high)(text)
    except ValueError as error:
        raise UsageError(f"{option} {text!r}: {error}", code="HD032") from None


def unescape(text: str, option: str) -> str:
    r"""`\n \r \t \0 \\ \xHH` of an option's text to what they mean (bytes above 127 as surrogate escapes).

    Raises UsageError HD032 for an empty text or another escape.
    """
    def one(match: re.Match[str]) -> str:
        body = match[1]
        if body[:1] == "x" and len(body) == 3:
            return bytes([int(body[1:], 16)]).decode("utf-8", "surrogateescape")
        if body not in _ESCAPES:
            raise UsageError(rf"{option} {text!r}: \{body} is no escape; there are \n \r \t \0 \\ \xHH", code="HD032")
        return _ESCAPES[body]

    if not text:
        raise UsageError(f"{option} must not be empty", code="HD032")
    return re.sub(r"\\(x[0-9A-Fa-f]{2}|.|$)", one, text, flags=re.DOTALL)


def _definition(definition: str) -> tuple[str, str]:
    key, equals, value = definition.partition("=")
    key = key.strip()
    if not equals or not key or "\0" in definition:
        raise UsageError(f"-D {definition!r}: must be KEY=VALUE", code="HD030")
    return _NEW_NAMES.get(key, key), value


def _value(key: str, value: str, option: str) -> Any:
    try:
        return SETTINGS[key].parse(value)
    except ValueError as error:
        raise UsageError(f"{option} {value!r}: {error}", code="HD032" if option.startswith("--") else "HD030") from None


def _refuse(key: str, value: str) -> None:
    refusal = REFUSED.get(key)
    if refusal and value not in refusal.allowed and value.strip().lower() not in refusal.allowed:
        raise UsageError(
            f"-D {key}={value}: this setting is not supported: {refusal.why}", code="HD031",
            help="remove it, or run the job under Hadoop",
        )


def markdown() -> str:
    """docs/job-settings.md."""
    lines = [
        "# Job settings", "",
        "`heterodoop run -D KEY=VALUE`, as in Hadoop. Names of Hadoop 1 (`mapred.reduce.tasks`) are understood too.",
        "A command line option wins over `-D`, with a warning where they differ. Keys that are in neither table are",
        "passed to the filters' environment (every character but letters and digits becomes `_`) and mean nothing to",
        "the engine.", "",
        "## Honoured", "", "| key | default | meaning |", "|---|---|---|",
    ]
    lines += [f"| `{s.key}` | {s.default or '-'} | {s.doc} |" for s in SETTINGS.values()]
    lines += [
        "", "## Refused (HD031)", "",
        "They would change the result and are not supported. A value that asks for what is done anyway is taken.", "",
        "| key | taken | why |", "|---|---|---|",
    ]
    lines += [f"| `{key}` | {_shown(r.allowed)} | {r.why} |" for key, r in REFUSED.items()]
    return "\n".join(lines) + "\n"


def _shown(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{v}`" if v != "\t" else "a tab" for v in values) or "-"


if __name__ == "__main__":
    print(markdown(), end="")
