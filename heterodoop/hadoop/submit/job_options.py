"""From what the user said to a `StreamingJob`: checks it, ships its files, and says what will be different from the wish.

What streaming does itself stays its own. A job whose filters do not read the lines of its files is a plain streaming job;
other partitioners, comparators, separators, output formats are passed on, and the plug-in declines. In both cases the map
tasks run on the CPU, and a warning says so before the job runs. Not here: the arguments (`streaming`), talking to a cluster
(`submission`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ... import manifest
from ...diag import Diagnostic
from ...errors import Limitation, UsageError
from ...job import input_format, jobconf
from ...job import settings as names
from ...job.setting import Party
from ...job.spec import JobSpec
from ...manifest import Manifest
from ...scheduler.policies import CPU_ONLY, POLICIES
from ...storage.hadoop_conf import HadoopConf
from ...storage.shipped import parted
from ...toolchain.plugin import provide
from . import archive, grouping, uber
from .streaming import Shipped, StreamingJob

TEXT_INPUT = ("", "TextInputFormat", "org.apache.hadoop.mapred.TextInputFormat")  # as streaming understands -inputformat
# Of the old interface, which is streaming's; those that combine files take the limit.
_NO_LIMIT = re.compile(r"((org\.apache\.hadoop\.mapred\.(lib\.)?)?(Text|KeyValueText|NLine|SequenceFile\w*)InputFormat)?")

_OWN = names.refused_by(Party.SUBMIT)
# Values that are checked here; what Hadoop alone reads is Hadoop's to judge.
_CHECKED = names.heeded_by(Party.RUN).keys() | {key for key in names.SETTINGS if key.startswith(names.PREFIX)}
_ON_CPU = {key: refusal for key, refusal in names.refused_by(Party.PLUGIN).items() if not refusal.when}


@dataclass(frozen=True)
class SubmitOptions:
    """What the command line says; texts as they stand there. `files`: PATH[#NAME]; `settings`: KEY=VALUE.

    What `run` has too goes into the JobSpec: reducers, record_delimiter, settings, files.
    """

    reducers: str | None = None
    name: str | None = None
    queue: str | None = None
    policy: str | None = None
    cpu_only: bool = False
    record_delimiter: str | None = None
    settings: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    hadoop_files: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    libjars: tuple[str, ...] = ()
    partitioner: str = ""
    input_format: str = ""
    output_format: str = ""


Exists = Callable[[str], bool | None]


def build(
    spec: JobSpec, options: SubmitOptions, conf: HadoopConf, exists: Exists, say: Callable[[str], None],
) -> tuple[StreamingJob, list[Diagnostic]]:
    """The job, and what to warn of.

    options  what is not in `spec`.
    say     told before the plug-in's jar is built, which takes a minute the first time.
    exists  whether a path is there, None where nobody can say; a name with a wildcard that is there is no pattern.
    Raises UsageError (HD010, HD030, HD032, HD033, HD623, HD310-HD313, HD633), Limitation HD624, ToolError HD650, HD653 (no
    jar, and none can be built).
    """
    if options.cpu_only and options.policy not in (None, CPU_ONLY.name):
        raise UsageError(f"--cpu-only and --policy {options.policy} exclude each other", code="HD032")
    what = manifest.load(spec.bundle)
    settings, warnings = _settings(spec, options, plugin=not options.cpu_only)
    plain = _plain(options, settings)
    if (folder := os.environ.get("HETERODOOP_DRIVER_DIR")) and not options.cpu_only:
        settings.setdefault(names.DRIVER_DIR, folder)
    if not (options.cpu_only or plain) and _reducer_counts(spec.bundle, what):
        settings.setdefault(names.DETAILS, "false")
    if not options.cpu_only:
        settings = {**uber.settings(settings, conf), **settings}
    reducers = _reducers(settings, what, conf)
    if not (options.cpu_only or plain):
        found, more = grouping.settings(settings, what, reducers)
        settings, warnings = {**settings, **found}, [*warnings, *more]
    partitioner = settings.pop(names.PARTITIONER, "")  # Hadoop takes it by its old name alone, which streaming's option sets
    packed = archive.pack(spec.bundle)
    job = StreamingJob(
        bundle=Shipped(str(packed.path), packed.name), bundle_sha256=packed.sha256,
        plugin=None if options.cpu_only or plain else str(archive.shippable(provide(say), "heterodoop-mr.jar")),
        combiner=what.program("combine") is not None, reducer=what.program("reduce") is not None,
        inputs=tuple(hadoop_path(name, exists) for name in spec.inputs), output=hadoop_path(spec.output, lambda _: False),
        reducers=reducers, name=settings.pop(names.NAME, what.name), queue=settings.pop(names.QUEUE, ""),
        policy=settings.pop(names.POLICY, ""), settings=settings, environment=tuple(map(_variable, options.environment)),
        files=(*map(_file, spec.files), *_shipped(options.hadoop_files)), archives=tuple(_shipped(options.archives)),
        libjars=tuple(jar for text in options.libjars for jar in text.split(",") if jar),
        partitioner=options.partitioner or partitioner, output_format=options.output_format,
        input_format="" if options.input_format in TEXT_INPUT else input_format.full_name(options.input_format),
        joined=settings.get(names.GROUP_BYTES, "0") != "0" and grouping.joined(what),
    )
    _check_names(job)
    if job.plugin:
        return job, warnings + _cpu_warnings(job, what)
    told = [] if options.cpu_only else [_on_cpu(f"the job is a plain streaming job, since {plain}")]
    return job, warnings + told + _unheeded(job)


def _plain(options: SubmitOptions, settings: dict[str, str]) -> str:
    """Why the filters do not read the lines of the job's files, so that only streaming itself can feed them; "": they do."""
    if options.input_format not in TEXT_INPUT:
        return f"with -inputformat {options.input_format} filters read what that format makes of a file"
    if settings.get(names.IGNORE_KEY, "").strip().lower() == "false":
        return f"with -D {names.IGNORE_KEY}=false filters read the offsets of lines too"
    return ""


def _reducer_counts(bundle: Path, what: Manifest) -> bool:
    """Whether reducers may have counters of their own: map attempts cannot see how many, and Hadoop limits their sum."""
    program = what.program("reduce")
    if program is None or program.command:
        return program is not None
    return b"counter:" in (bundle / program.binary).read_bytes()


def _unheeded(job: StreamingJob) -> list[Diagnostic]:
    """Of a plain streaming job: what `run`, and the plug-in's input format, do and streaming does not."""
    if names.MAX_SPLIT not in job.settings or not _NO_LIMIT.fullmatch(job.input_format):
        return []
    what = f"-D {names.MAX_SPLIT}: the input formats of plain streaming jobs do not know it"
    return [Diagnostic("warning", "HD656", what, help="-D mapreduce.job.maps=N makes splits of at most bytes / N")]


def _settings(spec: JobSpec, options: SubmitOptions, *, plugin: bool) -> tuple[dict[str, str], list[Diagnostic]]:
    """-D and the options that are short for one, checked. An option wins, with a warning where they differ."""
    given = {
        names.NAME: ("--name", options.name), names.QUEUE: ("--queue", options.queue),
        names.POLICY: ("--policy", options.policy),
    }
    chosen = {key: (option, value) for key, (option, value) in given.items() if value is not None} | dict(spec.options)
    found, warnings = jobconf.gather(spec.settings, chosen, partial(_refuse, plugin))
    for key, value in found.items():
        _check_value(key, value, chosen[key][0] if key in chosen else "")
    return found, warnings + names.misspelt(found, [key for key in names.SETTINGS if key not in _OWN])


def _refuse(plugin: bool, key: str, value: str) -> None:
    if key in _OWN and (plugin or not _OWN[key].when):
        raise UsageError(
            f"-D {key}: submit sets this itself", code="HD623",
            help="there are options for paths, formats and -cmdenv; with --cpu-only the plug-in's settings are yours",
        )


def _check_value(key: str, value: str, option: str = "") -> None:
    """`option`: the one that gave the value, "" for -D."""
    if bad := re.search("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", value):
        raise Limitation(
            f"{key}: Hadoop's job file is XML, which cannot hold the character {bad[0]!r}", code="HD624",
            help="use another value; `heterodoop run` takes any",
        )
    if key == names.POLICY and value not in POLICIES:
        raise UsageError(f"--policy {value!r}: must be one of {', '.join(POLICIES)}", code="HD032")
    if key in _CHECKED:
        try:
            names.SETTINGS[key].kind.parse(value)
        except ValueError as error:
            if option:
                raise UsageError(f"{option} {value!r}: {error}", code="HD032") from None
            raise UsageError(f"-D {key}={value}: {error}", code="HD030") from None


def _reducers(settings: dict[str, str], what: Manifest, conf: HadoopConf) -> int:
    """From the option or -D, else the cluster's default for a bundle with a reducer and 0 for one without."""
    given = settings.pop(names.REDUCES, None)
    if given is None:
        given = (conf.get(names.REDUCES) or "1") if what.program("reduce") else "0"
    return jobconf.parse_count(given, "--reducers", 0, names.MAX_REDUCERS)


def hadoop_path(name: str, exists: Exists) -> str:
    """A path as Hadoop's job takes it: the escapes that its lists and patterns need, nothing that a shell needs.

    Raises UsageError HD010 for an empty name, Limitation HD624 for a comma outside of {}, a colon in a plain name, and
    bytes that are no UTF-8.
    """
    if not name:
        raise UsageError("an input or output name is empty", code="HD010")
    plain = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:/", "/", name)
    if ":" in re.sub(r"^//[^/]*", "", plain):
        raise Limitation(f"{name!r}: Hadoop takes no colon in a name", code="HD624", help="rename it")
    if "," in re.sub(r"\{[^{}]*\}", "", name):
        raise Limitation(f"{name!r}: Hadoop takes a comma for the end of a name", code="HD624", help="write ? for it")
    if any("\udc80" <= letter <= "\udcff" for letter in name) or "\0" in name:
        raise Limitation(f"{name!r}: names in Hadoop are UTF-8 text", code="HD624", help="rename it")
    if re.search(r"[*?[\]{}\\]", name) and exists(name):
        name = re.sub(r"([*?[\]{}\\])", r"\\\1", name)
    return f"./{name}" if name.startswith("-") else name


def _variable(text: str) -> str:
    name, equals, _ = text.partition("=")
    if not equals or not name:
        raise UsageError(f"-cmdenv {text!r}: must be NAME=VALUE", code="HD030")
    if re.search(r"\s", text):
        raise Limitation(f"-cmdenv {text!r}: streaming takes a blank for the end of a variable", code="HD624",
                         help="put it into a file and ship that: --file")
    _check_value(f"-cmdenv {name}", text)
    return text


def _file(text: str) -> Shipped:
    """--file PATH[#NAME]: a local file (or folder) and its hash."""
    path_text, name = parted(text)
    name = name or os.path.basename(os.path.normpath(path_text))
    path = Path(os.path.abspath(path_text))
    if not (path.is_file() or path.is_dir()) or not os.access(path, os.R_OK):
        raise UsageError(f"--file {path_text!r} is no file or folder that can be read", code="HD033")
    if not archive.SAFE.match(name) or "/" in name:
        raise Limitation(
            f"--file {text!r}: Hadoop cannot ship a file under the name {name!r}", code="HD624",
            help="give it a name of letters, digits and . _ - +: --file PATH#NAME",
        )
    return Shipped(str(archive.shippable(path, name)), name, "" if path.is_dir() else manifest.sha256(path))


def _shipped(texts: Iterable[str]) -> list[Shipped]:
    """-files A,B#NAME and -archives as Hadoop understands them: addresses, not looked at."""
    found = []
    for address in (part for text in texts for part in text.split(",") if part):
        before, mark, name = address.rpartition("#")
        found.append(Shipped(before, name) if mark else Shipped(address, address.rstrip("/").rsplit("/", 1)[-1]))
    return found


def _check_names(job: StreamingJob) -> None:
    seen: set[str] = set()
    for shipped in (job.bundle, *job.files, *job.archives):
        if shipped.name in seen:
            what = f"two files would be {shipped.name!r} in the working folder"
            raise UsageError(what, code="HD033", help="name one of them: PATH#NAME")
        seen.add(shipped.name)


def _cpu_warnings(job: StreamingJob, what: Manifest) -> list[Diagnostic]:
    """Why no map task of the job will use a GPU, as far as it can be known here. The plug-in decides, attempt by attempt."""
    program = what.program("map")
    refusals = program.gpu_refusals if program else ()
    reasons = [f"the map program stays on the CPU: {reason.message}" for reason in refusals[:1]]
    if job.partitioner not in ("", names.HASH_PARTITIONER) and job.reducers > 1:
        reasons.append(f"-partitioner {job.partitioner}: another partitioner")
    if job.output_format and job.reducers == 0:
        reasons.append(f"-outputformat {job.output_format} in a job without reducers")
    for key, refusal in _ON_CPU.items():
        if key in job.settings and job.settings[key] not in refusal.allowed:
            reasons.append(f"-D {key}={job.settings[key]}: {refusal.why}")
    return [_on_cpu(reason) for reason in reasons]


def _on_cpu(reason: str) -> Diagnostic:
    return Diagnostic("warning", "HD626", f"map tasks will run on the CPU: {reason}")
