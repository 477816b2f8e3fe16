"""The settings of a job: one table for `run`, `submit`, the plug-in and the driver.

A setting is a row: what its value may be, who heeds it, who refuses it and why. From here come the checks of `-D` and "did
you mean", the driver's reading of what the plug-in tells it, and, by `make docs`, docs/job-settings.md and the plug-in's
Settings.java. A setting that would change the result and is not supported is refused: ignoring it would be a silent wrong
answer.

Not here: parsing `-D` (jobconf.py), names that Hadoop 1 had (executor/task/streaming_env.py), a cluster's own settings
(storage/hadoop_conf.py).
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator

from ..diag import Diagnostic
from ..executor.gpu.gpus import SESSIONS as SESSIONS_OF_A_JOB
from ..executor.task.cpu_task import LEAST_LINE, LINE_MAX
from ..scheduler.policies import TAIL
from ..storage.inputs import AS_TEXT
from .kinds import BOOLEAN, BYTES_OR_AUTO, CLASS, DELIMITER, ONE_CHARACTER, SOME_TEXT, TEXT, Kind, choice, integer
from .setting import Other, Party, Refusal, Setting

PREFIX = "heterodoop."
MAX_REDUCERS = 100_000
MAX_BYTES = 1 << 62
_MOST_FIELDS = 999_999_999  # nine digits: sums of such numbers are far from Java's limits of its long
NO_LIMIT = (1 << 31) - 1  # of a line's length, Hadoop's default
SESSIONS_OF_A_DRIVER = 2

NAME = "mapreduce.job.name"
REDUCES = "mapreduce.job.reduces"
MAPS = "mapreduce.job.maps"
QUEUE = "mapreduce.job.queuename"
TAGS = "mapreduce.job.tags"
MAX_SPLIT = "mapreduce.input.fileinputformat.split.maxsize"
MIN_SPLIT = "mapreduce.input.fileinputformat.split.minsize"
MAX_LENGTH = "mapreduce.input.linerecordreader.line.maxlength"
RECORD_DELIMITER = "textinputformat.record.delimiter"
INPUT_FORMAT = "mapreduce.job.inputformat.class"
KEY_VALUE_SEPARATOR = "mapreduce.input.keyvaluelinerecordreader.key.value.separator"
LINES_PER_MAP = "mapreduce.input.lineinputformat.linespermap"
IGNORE_KEY = "stream.map.input.ignoreKey"
TRUNCATE = "stream.jobconf.truncate.limit"
COMPRESS = "mapreduce.output.fileoutputformat.compress"
COMPRESS_CODEC = "mapreduce.output.fileoutputformat.compress.codec"
INPUTS = "mapreduce.input.fileinputformat.inputdir"
OUTPUT = "mapreduce.output.fileoutputformat.outputdir"
PARTITIONER = "mapreduce.job.partitioner.class"
PARTITION_OPTIONS = "mapreduce.partition.keypartitioner.options"
PARTITION_FIELDS = "num.key.fields.for.partition"
COMPARATOR = "mapreduce.job.output.key.comparator.class"
COMPARATOR_OPTIONS = "mapreduce.partition.keycomparator.options"
KEY_SEPARATOR = "mapreduce.map.output.key.field.separator"
MAP_KEY_FIELDS = "stream.num.map.output.key.fields"
REDUCE_KEY_FIELDS = "stream.num.reduce.output.key.fields"
MAP_OUTPUT_SEPARATOR = "stream.map.output.field.separator"
REDUCE_OUTPUT_SEPARATOR = "stream.reduce.output.field.separator"
MAP_INPUT_SEPARATOR = "stream.map.input.field.separator"
REDUCE_INPUT_SEPARATOR = "stream.reduce.input.field.separator"
TEXT_SEPARATOR = "mapreduce.output.textoutputformat.separator"
MAP_RUNNER = "mapred.map.runner.class"
COLLECTOR = "mapreduce.job.map.output.collector.class"
MAP_COMMAND = "stream.map.streamprocessor"
MAP_OUTPUT = "stream.map.output"
SPECULATIVE = "mapreduce.map.speculative"
UBER = "mapreduce.job.ubertask.enable"
UBER_BYTES = "mapreduce.job.ubertask.maxbytes"
SORT_BYTES = "heterodoop.sort.bytes"
LINE_BYTES = "heterodoop.line.max.bytes"
HOST_KERNELS = "heterodoop.host.kernels"
DRIVER = "heterodoop.gpu.driver"
SESSIONS = "heterodoop.gpu.sessions"
SPLITS = "heterodoop.gpu.splits"
CHECK = "heterodoop.gpu.check"
INGEST_THREADS = "heterodoop.gpu.ingest.threads"
EMULATED_SLOTS = "heterodoop.emulated.slots"
EMULATED_WORKERS = "heterodoop.emulated.workers"
ROUNDS = "heterodoop.iterate.rounds"
ROUND = "heterodoop.iterate.round"
UNTIL = "heterodoop.iterate.until"
POLICY = "heterodoop.policy"
GROUP_BYTES = "heterodoop.group.bytes"
GROUP_JOINED = "heterodoop.group.joined"
DRIVER_DIR = "heterodoop.driver.dir"
DETAILS = "heterodoop.counters.details"
BUNDLE = "heterodoop.bundle"
BUNDLE_SHA256 = "heterodoop.bundle.sha256"
FILES_SHA256 = "heterodoop.files.sha256"

MAP_MEMORY = "mapreduce.map.memory.mb"
REDUCE_MEMORY = "mapreduce.reduce.memory.mb"

_NOBODY = Party(0)
_RUN, _SUBMIT, _PLUGIN, _DRIVER = Party.RUN, Party.SUBMIT, Party.PLUGIN, Party.DRIVER
_TEXT_WRITER = "org.apache.hadoop.streaming.io.TextInputWriter"
_TEXT_READER = "org.apache.hadoop.streaming.io.TextOutputReader"
_QUICK_SORT = ("org.apache.hadoop.util.QuickSort",)
_CODECS = ("org.apache.hadoop.io.compress.DefaultCodec", "org.apache.hadoop.io.compress.GzipCodec")
HASH_PARTITIONER = "org.apache.hadoop.mapred.lib.HashPartitioner"
FIELD_PARTITIONER = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner"
FIELD_COMPARATORS = ("org.apache.hadoop.mapred.lib.KeyFieldBasedComparator",
                     "org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedComparator")


def _ours(key: str, kind: Kind, doc: str, heeds: Party = _RUN, default: str = "", unit: str = "", java: str = "") -> Setting:
    """A setting of HeteroDoop that nobody refuses."""
    return Setting(PREFIX + key, kind, doc, heeds, default, unit, java=java)


_SPLITTING = (
    Setting(NAME, TEXT, "Name of the job (default: the bundle's).", _RUN | _SUBMIT),
    Setting(REDUCES, integer(0, MAX_REDUCERS),
            "Reduce tasks; 0 = the map output is the result (default: 1 where the bundle has a reducer, else 0).",
            _RUN | _SUBMIT | _PLUGIN | _DRIVER),
    Setting(MAPS, integer(0, 1 << 31), "A hint, as in Hadoop: splits are at most input bytes / maps long.",
            _RUN | _SUBMIT | _PLUGIN),
    Setting(MIN_SPLIT, integer(0, MAX_BYTES), "Smallest split in bytes; wins over every upper limit.",
            _RUN | _SUBMIT | _PLUGIN, "1", "bytes"),
    Setting(MAX_SPLIT, integer(1, MAX_BYTES),
            "Largest split in bytes (default: a 32nd of the input in whole MiB, from 4 MiB to 64 MiB; 64 MiB where"
            " split.minsize or mapreduce.job.maps is set; under Hadoop a block). Plain streaming jobs do not heed it"
            " (HD656).",
            _RUN | _PLUGIN, unit="bytes", java="MAX_SPLIT"),
    Setting(RECORD_DELIMITER, DELIMITER,
            r"End of a record, taken as it is, instead of \n, \r\n and \r (--record-delimiter understands escapes).",
            _RUN | _SUBMIT | _PLUGIN | _DRIVER, java="RECORD_DELIMITER", refused={_PLUGIN: Refusal(
                (), "where a split ends within it Hadoop's reader may lose or double records, and all attempts must read"
                " alike", "it has several bytes")}),
    Setting(KEY_VALUE_SEPARATOR, ONE_CHARACTER,
            "What ends the key of a line, where -inputformat is KeyValueTextInputFormat (default: a tab).", _RUN | _SUBMIT),
    Setting(LINES_PER_MAP, integer(1, (1 << 31) - 1),
            "Lines of a split, where -inputformat is NLineInputFormat (default: 1).", _RUN | _SUBMIT),
    Setting(AS_TEXT, BOOLEAN,
            "Whether SequenceFiles, Parquet, Avro and ORC files and archives are read as lines; else they are refused"
            " (HD047).", _RUN, "false"),
    _ours("line.max.bytes", integer(LEAST_LINE, MAX_BYTES),
          "Bytes of the longest record of the input (HD051), and of the longest line that a filter may print (HD052).",
          _RUN | _DRIVER, str(LINE_MAX), "bytes"),
    Setting(MAX_LENGTH, integer(1, NO_LIMIT),
            "Records of so many bytes, their ends included, are passed over without a word, as in Hadoop.", _RUN | _SUBMIT,
            str(NO_LIMIT), "bytes", refused={_DRIVER: Refusal((str(NO_LIMIT),), "the job limits the length of a line")},
            java="MAX_LENGTH", told=True),
)

_TASKS = (
    Setting("mapreduce.map.maxattempts", integer(1, 1000), "Times a map task is tried before the job fails.",
            _RUN | _SUBMIT, "4"),
    Setting("mapreduce.reduce.maxattempts", integer(1, 1000), "Times a reduce task is tried before the job fails.",
            _RUN | _SUBMIT, "4"),
    Setting("mapreduce.task.io.sort.mb", integer(1, 2047),
            "Memory in MiB that one task's sort or merge may hold; beyond it spills to disk.", _RUN | _SUBMIT | _DRIVER,
            "100", "MiB", java="SORT_MB", told=True),
    _ours("sort.bytes", integer(0, 2047 << 20), "The same limit in bytes, where not 0 (for tests of spilling).",
          default="0", unit="bytes"),
    Setting("mapreduce.task.timeout", integer(0, 1 << 62),
            "Milliseconds without progress after which a task's attempt fails; 0 = never. Progress is bytes, records, pairs,"
            " lines on stderr.", _RUN | _SUBMIT | _DRIVER, "600000", "ms"),
    *(Setting(key, integer(0, MAX_BYTES >> 20),
              f"MiB that the container of a {kind} task may use. In `run`, MiB that one of its programs may have in use,"
              " with what it starts; a filter that has more fails its attempt (HD437). 0 = any; `run` itself sets none.",
              _RUN | _SUBMIT, unit="MiB") for key, kind in ((MAP_MEMORY, "map"), (REDUCE_MEMORY, "reduce"))),
    Setting(QUEUE, TEXT, "YARN's queue for the job (--queue).", _SUBMIT),
    Setting(TAGS, TEXT, "Tags by which YARN lists the job; `submit --iterate` adds one of its own.", _SUBMIT),
    Setting(SPECULATIVE, BOOLEAN, "Whether a slow map task gets a second attempt beside the first.", _SUBMIT, "true",
            others={_SUBMIT: Other("false", "with the plug-in a task that waits for a GPU looks slow, and a second attempt"
                                   " would be work for nothing")}),
    Setting(UBER, BOOLEAN, "Whether the tasks of a small job run one after the other in its application master.", _SUBMIT,
            "false", others={_SUBMIT: Other("true", "a container costs more than a small task: unless -D or the cluster says"
                                            " otherwise, or -D has what only tasks in containers have")}),
    Setting(UBER_BYTES, integer(0, MAX_BYTES), "Most bytes of input of such a job.", _SUBMIT, unit="bytes", others={
        _SUBMIT: Other(str(32 << 20), "its map tasks wait for each other; where the cluster says less, that")}),
    Setting("stream.non.zero.exit.is.failure", BOOLEAN,
            "Whether a filter that exits with a status other than 0 fails its task.", _RUN | _SUBMIT | _DRIVER, "true",
            java="NON_ZERO_EXIT_IS_FAILURE", told=True),
    Setting("stream.stderr.reporter.prefix", SOME_TEXT, "How stderr lines begin that are counters or status, not log.",
            _RUN | _SUBMIT | _DRIVER, "reporter:", java="REPORTER_PREFIX", told=True),
    Setting(TRUNCATE, integer(-1, (1 << 31) - 1),
            "Longest value of a setting, in characters, that filters see in their environment; -1 = no limit.",
            _RUN | _SUBMIT | _PLUGIN, "20000", "characters", java="TRUNCATE_LIMIT", others={_PLUGIN: Other(
                "-1", "it is streaming's own, which a job has that `submit` did not submit; `submit` sets 20000, since one"
                " long list of inputs would keep every filter from starting")}),
    Setting("stream.addenvironment", TEXT,
            "More environment for the filters: NAME=VALUE NAME=VALUE, no blanks in values (-cmdenv).", _RUN | _PLUGIN,
            refused={_SUBMIT: Refusal((), "-cmdenv sets it")}, java="ADD_ENVIRONMENT"),
)

_DEVICES = (
    _ours("host.kernels", BOOLEAN,
          "Whether CPU slots run a map, with its combiner where that is understood, as a program that reads its split"
          " itself, a host kernel, and a reducer as another, where the bundle has them; else as filters (--filters). The"
          " bytes are the same.", default="true"),
    _ours("gpu.sub-split.bytes", integer(0, MAX_BYTES),
          "Input bytes per kernel launch on a device; 0 = chosen from its memory.", _RUN | _DRIVER, "0", "bytes"),
    _ours("gpu.arena.bytes", integer(0, MAX_BYTES),
          "First room for a launch's output on a device; where it is too small it grows and the launch is repeated;"
          " 0 = chosen from the input.", _RUN | _DRIVER, "0", "bytes"),
    _ours("gpu.check", choice("auto", "none", "sample", "first", "all"),
          "What a device did that the CPU does too, to compare: `sample`, of the first map task the first 256 KiB of"
          " the split, which the device does once more by themselves; `first`, all of the first map task; `all`, every"
          " map task; `none`; `auto`, `none`: a kernel checks itself that it reads only what its record has written, so"
          " that nothing has to be compared for the bytes to be right. A sample is soon done, and finds what shows in"
          " it: records further on that differ are found by `first` (in that task) and `all`. Where there can be no"
          " sample (a compressed file, a split of no more than 256 KiB, a program that fails on a part of its split,"
          " or that the device cannot run on it), `sample` is `first`. A task that is compared costs the CPU's time for"
          " it; the tasks beside the first one wait for the verdict. Where the results differ the CPU does that task"
          " and the rest of the job, and a warning (HD414) says so. With `none` the output is what the device made.",
          default="auto"),
    _ours("gpu.ingest.threads", integer(0, 256),
          "Threads that read the input of a map task on a device; 0 = chosen from the cores, at most 12. Where a GPU is"
          " used, so many processors per GPU have no CPU slot by default (0: 4 of them, at most half of the processors in"
          " all).", _RUN | _DRIVER, "0"),
    Setting(SESSIONS, integer(1, 16),
            "Map tasks that run on a GPU at a time: some are read or written while others compute. A driver's are said by"
            " `heterodoop driver start --sessions`, for all jobs.", _RUN, str(SESSIONS_OF_A_JOB), others={_DRIVER: Other(
                str(SESSIONS_OF_A_DRIVER), "each holds its split, often a whole block of HDFS, in the driver's memory"
                " (--memory), and the four were measured with files of the machine")}),
    _ours("gpu.splits", integer(0, 4096),
          "Most splits of a map task on a device. It takes several neighbours of a file as one attempt with one output,"
          " fewer of them as less is left, where no byte of the result can change; one that fails gives them back singly."
          " 1 = each by itself; 0 = chosen: 8 on GPUs, 1 on the emulated device.", default="0"),
    _ours("gpu.keep.percent", integer(0, 90),
          "Of a GPU's memory, for input that stays there from round to round of `--iterate`; a task that lacks memory gets"
          " it back. 0 = nothing stays.", default="50", unit="percent"),
    _ours("gpu.hang.seconds", integer(1, 1 << 31),
          "A map task on a GPU that makes no progress for so long, and for 20 times what earlier ones took, is taken to"
          " hang: its worker process is killed, and the task runs again.", default="30", unit="seconds"),
    _ours("gpu.faults", integer(1, 1000), "Faults after which a GPU gets no more tasks of the job.", default="3"),
    _ours("gpu.driver", choice("auto", "never"),
          "Whether map tasks use the GPUs of a driver of this user that runs on this machine (`heterodoop driver start`),"
          " whose workers stay awake between jobs (--driver). `auto`: where one does, and a job's own workers would run in"
          " the same way; `never`: always workers of the job's own. Their number, and what becomes of a GPU that fails, is"
          " then the driver's: it does not ask for heterodoop.gpu.sessions and heterodoop.gpu.faults.", default="auto"),
    _ours("emulated.slots", integer(0, 256),
          "Map tasks at a time on the emulated device; 0 = one, or, where it runs them all, as many as there are CPU"
          " slots.", default="0"),
    _ours("emulated.workers", integer(0, 64),
          "Worker processes for the emulated device, as a GPU has one; 0 = it runs in the engine's process.", default="0"),
    _ours("emulated.order", choice("forward", "reverse", "random"), "Which lanes of the emulated device run first.",
          _RUN | _DRIVER, "forward"),
    _ours("emulated.seed", integer(0, (1 << 63) - 1), "Seed of the order `random`.", _RUN | _DRIVER, "0"),
    _ours("emulated.pattern", integer(0, 255),
          "Byte that private memory on the emulated device holds before the program writes it.", _RUN | _DRIVER, "0"),
    _ours("emulated.memory.bytes", integer(0, MAX_BYTES), "Memory of the emulated device; 0 = no limit.", _RUN | _DRIVER,
          "0", "bytes"),
    _ours("iterate.rounds", integer(1, 1_000_000),
          "Rounds of `--iterate` at most (--rounds; default: 100). Each round's filters find its number, from 1, in"
          " `heterodoop_iterate_round`.", _RUN | _SUBMIT),
    _ours("iterate.until", TEXT, "When `--iterate` is done (--until): `GROUP:COUNTER<NUMBER`.", _RUN | _SUBMIT),
)

_PLUG_IN = (
    _ours("policy", Kind("a policy", str), "Scheduling policy that the driver uses for the job (--policy).",
          _SUBMIT | _PLUGIN | _DRIVER, TAIL.name, java="POLICY"),
    _ours("group.bytes", BYTES_OR_AUTO,
          "Bytes of input that one map attempt under Hadoop does at most, as several splits where they are smaller; 0 = each"
          " split has its own; `auto`: 16 to 512 MiB, for about two attempts to a slot of the cluster. Only where no byte of"
          " the result can change; else `submit` says why (HD661).", _SUBMIT | _PLUGIN, "0", "bytes", java="GROUP_BYTES",
          )._replace(others={_SUBMIT: Other("auto", "it knows the bundle; 0 where that may not be, or -D says how splits are"
                                            " made")}),
    _ours("verify", BOOLEAN, "Whether Java checks each record of a GPU's result before it installs it.", _PLUGIN, "false",
          java="VERIFY"),
    _ours("gpu.retry", BOOLEAN, "Whether an attempt may use a GPU too after one of the same task has failed.", _PLUGIN,
          "false", java="GPU_RETRY"),
    _ours("counters.details", BOOLEAN,
          "Whether the plug-in may have counters that Hadoop counts against mapreduce.job.counters.max.", _SUBMIT | _PLUGIN,
          "true", java="DETAILS"),
    _ours("gpu.wait.max.ms", integer(0, MAX_BYTES), "An attempt that waited longer for a GPU runs on the CPU.", _PLUGIN,
          "600000", "ms", java="WAIT_MAX_MS"),
    _ours("driver.silence.ms", integer(0, (1 << 31) - 1), "A driver that takes or sends nothing for so long is given up.",
          _PLUGIN, "30000", "ms", java="SILENCE_MS"),
    _ours("driver.dir", TEXT,
          "The folder of the driver's sockets (default: /run/heterodoop-UID, else /tmp/heterodoop-UID; `submit` hands"
          " on `HETERODOOP_DRIVER_DIR`).", _SUBMIT | _PLUGIN, java="DRIVER_DIR"),
    _ours("driver.tcp", BOOLEAN,
          "Whether TCP on the loopback is used instead of the Unix socket (default: with Java older than 16).", _PLUGIN,
          java="DRIVER_TCP"),
)

_GROUPED = "groups are always of equal keys, as they are by these classes"
_PROGRAMS = "the filters are those of the bundle"
_EVERYTHING = "every record and every task counts; none is skipped"
_OURS = Refusal((), "submit sets this itself")
_OURS_WITH_THE_PLUG_IN = Refusal((), "submit sets this itself", "the plug-in is used")
_COMBINER = "the job has a combiner"


def _alone(key: str, kind: Kind, doc: str, run: Refusal, plugin: Refusal | None = None, java: str = "") -> Setting:
    """A setting of Hadoop's that `run` refuses. plugin: what that says of it, None: it does not matter to a map task."""
    return Setting(key, kind, doc, _SUBMIT, refused={_RUN: run, **({_PLUGIN: plugin} if plugin else {})}, java=java)


def _fields(key: str, of: str, plugin: Refusal, java: str) -> Setting:
    return Setting(key, integer(1, _MOST_FIELDS), f"Fields of a line of {of} that are its key (default: 1); a line with"
                   " fewer separators is all key.", _RUN | _SUBMIT, refused={_PLUGIN: plugin}, java=java)


def _separator(key: str, doc: str, plugin: Refusal, java: str) -> Setting:
    return Setting(key, SOME_TEXT, f"{doc} (default: a tab).", _RUN | _SUBMIT, refused={_PLUGIN: plugin}, java=java)


def _lines(key: str, doc: str, plugin: Refusal | None = None) -> Setting:
    run = Refusal(("text", _TEXT_WRITER), "filters are always fed and read as text lines")
    return _alone(key, TEXT, doc, run, plugin)


def _streams(role: str, what: str, name: str, when: str = "") -> Iterator[Setting]:
    for end, default in (("input.writer", _TEXT_WRITER), ("output.reader", _TEXT_READER)):
        yield Setting(f"stream.{role}.{end}.class", CLASS, f"What feeds and reads {what}.", _SUBMIT, refused={
            _PLUGIN: Refusal((default,), "another form of the filter's input or output", when)},
            java=f"{name}_{end.replace('.', '_').upper()}")


_FORM = "another form of the filter's input"
_TAB_ONLY = Refusal(("\t",), "another separator of key and value")
_COMBINER_TAB = Refusal(("\t",), "another separator of key and value", _COMBINER)

_TEXT_FORM = (
    _fields(MAP_KEY_FIELDS, "the map filter", Refusal(("1",), "a key of several fields"), "MAP_KEY_FIELDS"),
    _fields(REDUCE_KEY_FIELDS, "combiner and reduce filter", Refusal(("1",), "a key of several fields", _COMBINER),
            "REDUCE_KEY_FIELDS"),
    _separator(MAP_OUTPUT_SEPARATOR, "What ends a field in the map filter's lines", _TAB_ONLY, "MAP_OUTPUT_SEPARATOR"),
    _separator(REDUCE_OUTPUT_SEPARATOR, "What ends a field in the lines of combiner and reduce filter", _COMBINER_TAB,
               "REDUCE_OUTPUT_SEPARATOR"),
    _separator(MAP_INPUT_SEPARATOR, "What stands between key and value of what the map filter reads, where it reads keys"
               " (stream.map.input.ignoreKey)", _TAB_ONLY, "MAP_INPUT_SEPARATOR"),
    _separator(REDUCE_INPUT_SEPARATOR, "What stands between key and value of what combiner and reduce filter read",
               _COMBINER_TAB, "REDUCE_INPUT_SEPARATOR"),
    _separator(TEXT_SEPARATOR, "What stands between key and value in part files",
               Refusal(("\t",), "another separator of key and value", "the job has no reducers"), "TEXT_OUTPUT_SEPARATOR"),
    Setting(KEY_SEPARATOR, SOME_TEXT, "What ends a field within a key, for KeyFieldBasedPartitioner and"
            " KeyFieldBasedComparator (default: a tab).", _RUN | _SUBMIT),
    Setting(IGNORE_KEY, BOOLEAN,
            "Whether the map filter sees the record alone, without its key (default: true with TextInputFormat, whose keys"
            " are the offsets of lines, false with another -inputformat).", _RUN | _SUBMIT, java="IGNORE_KEY",
            refused={_PLUGIN: Refusal(("true",), "filters read the offsets of lines too", "it is false")}),
    _lines("stream.map.input", "The form of the map filter's input.", Refusal(("text",), _FORM)),
    Setting(MAP_OUTPUT, TEXT, "The form of the map filter's output.", _NOBODY, refused={
        _RUN: Refusal(("text", _TEXT_WRITER), "filters are always fed and read as text lines"),
        _SUBMIT: _OURS_WITH_THE_PLUG_IN}),
    _lines("stream.reduce.input", "The form of the reduce filter's input."),
    _lines("stream.reduce.output", "The form of the reduce filter's output."),
    _lines("stream.io.identifier.resolver.class", "What the names of forms mean.", Refusal((), _FORM)),
    _lines("stream.recordreader.class", "What cuts the input into records."),
    *_streams("map", "the map filter", "MAP"),
    *_streams("reduce", "the reduce filter and the combiner", "REDUCE", _COMBINER),
)


def _program(key: str, doc: str, heeds: Party = _NOBODY, java: str = "") -> Setting:
    return Setting(key, CLASS, doc, heeds, refused={_RUN: Refusal((), _PROGRAMS), _SUBMIT: _OURS}, java=java)


_PROGRAM = (
    _program(MAP_COMMAND, "The map filter's command.", _PLUGIN, "MAP_COMMAND"),
    _program("stream.combine.streamprocessor", "The combiner's command.", _PLUGIN, "COMBINE_COMMAND"),
    _program("stream.reduce.streamprocessor", "The reduce filter's command."),
    _program("mapreduce.job.map.class", "The map class."),
    _program("mapreduce.job.combine.class", "The combiner's class."),
    _program("mapreduce.job.reduce.class", "The reduce class."),
    Setting(MAP_RUNNER, CLASS, "What runs the map of an attempt.", _PLUGIN, java="MAP_RUNNER",
            refused={_SUBMIT: _OURS_WITH_THE_PLUG_IN}),
    Setting(COLLECTOR, CLASS, "What takes the pairs of a map, by rank.", _PLUGIN, java="COLLECTOR",
            refused={_SUBMIT: _OURS_WITH_THE_PLUG_IN}),
)

_SHUFFLE = (
    _alone(PARTITIONER, CLASS, "Which reducer a key goes to.",
           Refusal((HASH_PARTITIONER, "org.apache.hadoop.mapreduce.lib.partition.HashPartitioner", FIELD_PARTITIONER),
                   "there are HashPartitioner and KeyFieldBasedPartitioner"),
           Refusal((HASH_PARTITIONER,), "another partitioner"), "PARTITIONER"),
    Setting(PARTITION_OPTIONS, TEXT, "Parts of the key by which KeyFieldBasedPartitioner decides, `-k1,2`"
            " (default: all of it).", _RUN | _SUBMIT),
    Setting(PARTITION_FIELDS, integer(1, _MOST_FIELDS), "An older way to say `-k1,N` there; it wins.",
            _RUN | _SUBMIT),
    _alone(COMPARATOR, CLASS, "How keys are sorted.",
           Refusal(FIELD_COMPARATORS, "there are the order of bytes, of Hadoop's Text, and KeyFieldBasedComparator"),
           Refusal((), "a key comparator"), "KEY_COMPARATOR"),
    Setting(COMPARATOR_OPTIONS, TEXT, "How KeyFieldBasedComparator sorts, `-k1,1 -k2,2nr` (default: by bytes).",
            _RUN | _SUBMIT),
    _alone("mapreduce.job.output.group.comparator.class", CLASS, "Which keys are one group for the reducer.",
           Refusal(FIELD_COMPARATORS, _GROUPED)),
    _alone("mapreduce.job.combiner.group.comparator.class", CLASS, "Which keys are one group for the combiner.",
           Refusal(FIELD_COMPARATORS, _GROUPED), Refusal((), "a comparator"), "COMBINER_COMPARATOR"),
    Setting("map.sort.class", CLASS, "How a map's pairs are sorted in memory.", _SUBMIT,
            refused={_PLUGIN: Refusal(_QUICK_SORT, "another sort")}, java="MAP_SORT"),
    Setting("mapreduce.map.sort.class", CLASS, "The same, under the name that Hadoop's documentation has.", _SUBMIT,
            refused={_PLUGIN: Refusal(_QUICK_SORT, "another sort")}, java="MAP_SORT_AS_DOCUMENTED"),
    Setting("mapreduce.job.encrypted-intermediate-data", BOOLEAN, "Whether map output is encrypted.", _SUBMIT, "false",
            refused={_PLUGIN: Refusal(("false",), "encrypted map output")}, java="ENCRYPTED"),
    Setting("mapreduce.map.output.compress.codec", CLASS, "The codec of map output, where it is compressed.",
            _SUBMIT | _PLUGIN | _DRIVER, _CODECS[0], java="MAP_OUTPUT_CODEC",
            refused={_PLUGIN: Refusal(_CODECS, "that codec of the map output")}),
)


def _skipped(key: str, doc: str, plugin: Refusal | None = None) -> Setting:
    return _alone(key, integer(0, MAX_BYTES), doc, Refusal(("0",), _EVERYTHING), plugin)


_PATHS = Refusal((), "inputs and output are named as arguments")
_INPUT_AND_OUTPUT = (
    Setting(INPUT_FORMAT, CLASS, "What makes splits and records of the input (-inputformat; default: TextInputFormat).",
            _RUN, refused={_SUBMIT: _OURS}),
    Setting("mapreduce.job.outputformat.class", CLASS, "What writes the output.", _NOBODY, refused={
        _RUN: Refusal(("org.apache.hadoop.mapred.TextOutputFormat",), "output is always text"), _SUBMIT: _OURS}),
    Setting(COMPRESS, BOOLEAN, "Whether the part files are compressed; not those that programs make beside them.",
            _RUN | _SUBMIT, "false"),
    Setting(COMPRESS_CODEC, CLASS,
            "By which codec. `run` has those of .deflate, .gz, .bz2, and with `pip install 'heterodoop[codecs]'` of .zst,"
            " .lz4 and .snappy; another one is refused there (HD031).", _RUN | _SUBMIT, _CODECS[0]),
    _alone("mapreduce.fileoutputcommitter.marksuccessfuljobs", BOOLEAN, "Whether a job that is done writes _SUCCESS.",
           Refusal(("true",), "_SUCCESS is always written")),
    _skipped("mapreduce.map.skip.maxrecords", "Records around a bad one that a map may skip.", Refusal(("0",), "skip mode")),
    _skipped("mapreduce.reduce.skip.maxgroups", "Keys around a bad one that a reducer may skip."),
    _skipped("mapreduce.map.failures.maxpercent", "Percent of map tasks that may fail."),
    _skipped("mapreduce.reduce.failures.maxpercent", "Percent of reduce tasks that may fail."),
    _alone("mapreduce.input.fileinputformat.input.dir.recursive", BOOLEAN, "Whether folders in folders are input too.",
           Refusal(("false",), "folders are read one level deep")),
    _alone("mapreduce.input.pathFilter.class", CLASS, "Which files of a folder are input.",
           Refusal((), "hidden names are skipped, nothing else")),
    Setting(INPUTS, TEXT, "The inputs.", _NOBODY, refused={_RUN: _PATHS, _SUBMIT: _OURS}),
    Setting(OUTPUT, TEXT, "The output.", _NOBODY, refused={_RUN: _PATHS, _SUBMIT: _OURS}),
)


def _of_submit(key: str, doc: str, java: str, heeds: Party = _PLUGIN) -> Setting:
    return Setting(PREFIX + key, TEXT, doc, heeds, refused={_SUBMIT: _OURS}, java=java)


_SHIPPED = (
    _of_submit("bundle", "Name of the bundle's folder in the task's working folder, such as `wc.hdp`.", "BUNDLE",
               _PLUGIN | _DRIVER),
    _of_submit("bundle.sha256", "Hash of the bundle, by which drivers know it.", "BUNDLE_SHA256"),
    _of_submit("files.sha256",
               "`NAME=HASH,...`: hashes of localized files that are known already; the task computes the others.",
               "FILES_SHA256"),
    Setting(GROUP_JOINED, BOOLEAN, "Whether one filter process reads all splits of an attempt, one after the other.",
            _PLUGIN, "false", refused={_SUBMIT: _OURS}, java="GROUP_JOINED"),
    _of_submit("inputformat", "The input format behind `HeteroInputFormat` (default: `TextInputFormat`).", "INPUT_FORMAT"),
)

# What a task is told of itself, and cannot be set; the plug-in reads some of it.
TOLD: tuple[Setting, ...] = (
    Setting("mapreduce.job.id", TEXT, "Id of the job.", _NOBODY),
    Setting("mapreduce.job.user.name", TEXT, "Whose job it is.", _NOBODY),
    Setting("mapreduce.task.attempt.id", TEXT, "Id of the attempt.", _PLUGIN, java="ATTEMPT_ID"),
    Setting("mapreduce.job.classpath.files", TEXT, "Jars of the class path, which are no filter's files.", _PLUGIN,
            java="CLASSPATH_FILES"),
    Setting("mapreduce.job.cache.files", TEXT, "Files that Hadoop localized for the job.", _PLUGIN, java="CACHE_FILES"),
    Setting("mapreduce.job.cache.archives", TEXT, "Archives that Hadoop localized for the job.", _PLUGIN,
            java="CACHE_ARCHIVES"),
    _ours("iterate.round", TEXT, "Number of the round, from 1.", _NOBODY),
)

SETTINGS: dict[str, Setting] = {row.key: row for row in (
    *_SPLITTING, *_TASKS, *_DEVICES, *_PLUG_IN, *_SHIPPED, *_TEXT_FORM, *_PROGRAM, *_SHUFFLE, *_INPUT_AND_OUTPUT)}


def heeded_by(party: Party) -> dict[str, Setting]:
    return {key: row for key, row in SETTINGS.items() if party in row.heeds}


def refused_by(party: Party) -> dict[str, Refusal]:
    return {key: row.refused[party] for key, row in SETTINGS.items() if party in row.refused}


def misspelt(keys: Iterable[str], among: Collection[str]) -> list[Diagnostic]:
    """A warning for each that has a name of ours and is no setting; `among`: what it may stand for."""
    ours, told = [name for name in among if name.startswith(PREFIX)], {row.key for row in TOLD}
    found = []
    for key in keys:
        if key.startswith(PREFIX) and key not in SETTINGS and key not in told:
            near = difflib.get_close_matches(key, ours, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            found.append(Diagnostic("warning", "HD627", f"-D {key}: HeteroDoop has no such setting{hint}"))
    return found
