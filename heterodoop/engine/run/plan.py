"""From what the user asked for to a plan: settings, filters, splits, tasks and slots, all checked before any work.

Nothing is written here, except modules for a device into the cache of compiled kernels, and what inputs hold that can be
read once only.
"""

from __future__ import annotations

import getpass
import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ... import manifest
from ...diag import Diagnostic
from ...errors import Limitation, UsageError
from ...executor.gpu import gpus
from ...executor.kernel.host_kernel import HostCode, host_code
from ...executor.kernel.host_reduce import reduce_program
from ...executor.task.cpu_task import CpuJob
from ...executor.task.split import Split, SplitSize, plan_splits, splits_of_lines
from ...executor.task.streaming_env import job_environment
from ...job import commands, input_format, jobconf, keys
from ...job import settings as names
from ...job.cpu import cpu_job
from ...job.input_format import InputFormat
from ...job.jobconf import JobConf
from ...job.setting import Party
from ...job.spec import JobSpec
from ...scheduler.model import Attempt, JobShape
from ...scheduler.policies import CPU_ONLY
from ...scheduler.several import NO_SMALL, Small
from ...storage import inputs as storage
from ...storage.codecs import CLASSES, Form, need
from ...storage.local import InputFile
from ...storage.shipped import shipped
from ..devices.job_slots import Slots, check_policy, plan_slots
from ..devices.together import Together, small_files, together
from ..job.device_names import AUTO, CPU, check_device
from ..job.layout import Layout

if TYPE_CHECKING:
    from ..devices.devices import DevicePlan, DeviceSource


class RunOptions(NamedTuple):
    """The options of `heterodoop run`, as text where the user gave text; None = not given.

    reducers          reduce tasks; default: 1 where the bundle has a reducer, else 0.
    combining         that default is 1 where the bundle has a combiner, too: without reduce tasks nothing is combined.
    split_size        bytes, `64m`; default: from the input (executor/task/split.py).
    cpu_slots         tasks at a time on the CPU; default: the processors this process may use. Some of them read for the
                      GPUs in use, as long as these are worth it.
    ingest_threads    threads that read the input of a map task on a device.
    max_attempts      of a map and of a reduce task.
    record_delimiter  with escapes (`\\n`).
    input_format      class of Hadoop, by its last word too; default: TextInputFormat.
    settings          `-D` definitions, `key=value`.
    device            where map tasks run (device_names.py); what cannot run there runs on the CPU, with a warning.
    gpus              which GPUs: "all", "none" or numbers, "0,1".
    check             what of the device's map tasks the CPU does too: "auto", "none", "sample", "first", "all".
    policy            who takes which map task (scheduler/policies.py); default: job_slots.py's choice for the device.
    driver            "auto" or "never": whether the GPUs of a driver that runs on this machine are used.
    filters           CPU slots run filters, not host kernels.
    files             `PATH` or `PATH#NAME`: what the filters find in their working folder.
    ignore            absolute paths that a folder or glob among the inputs must not find.
    asleep            why no GPU is woken, where the job might use one (toolchain/short_jobs.py); for the report.

    What `submit` has too goes into the JobSpec: reducers, record_delimiter, settings, files.
    """

    reducers: str | int | None = None
    split_size: str | int | None = None
    cpu_slots: str | int | None = None
    max_attempts: str | int | None = None
    record_delimiter: str | None = None
    settings: Sequence[str] = ()
    files: Sequence[str] = ()
    quiet: bool = False
    policy: str | None = None
    device: str = CPU
    check: str | None = None
    gpus: str = gpus.ALL
    ingest_threads: str | int | None = None
    driver: str | None = None
    filters: bool = False
    combining: bool = False
    ignore: Sequence[str] = ()
    asleep: str = ""
    input_format: str | None = None


class Plan(NamedTuple):
    """All there is to know before the first task runs.

    files      (name in the working folder, absolute path).
    host       what CPU slots run map tasks as; None: filters.
    host_reduce  what reduce tasks run as; None: the filter.
    device     what the user asked for; `offload` is how map tasks run there, None: all of them run on the CPU.
    together   how many splits a map task may have there.
    packing    how part files are compressed; None: they are text.
    commands   what filters are that are commands, by role, for a shell.
    small      which small files a map task may have as a host kernel.
    asleep     as in RunOptions.
    """

    name: str
    job_id: str
    bundle: Path
    cpu: CpuJob
    splits: Sequence[Split]
    shape: JobShape
    slots: Slots
    files: tuple[tuple[str, Path], ...]
    settings: Mapping[str, str]
    warnings: tuple[Diagnostic, ...]
    device: str = CPU
    offload: DevicePlan | None = None
    host: HostCode | None = None
    host_reduce: Path | None = None
    together: Together = Together()
    small: Small = NO_SMALL
    packing: Form | None = None
    commands: Mapping[str, str] = {}
    asleep: str = ""

    @property
    def input_bytes(self) -> int:
        return sum(split.length for split in self.splits)

    def bytes_of(self, attempt: Attempt) -> int:
        """Of the splits of a map attempt."""
        return sum(self.splits[number].length for number in attempt.numbers)


def make_plan(
    spec: JobSpec, layout: Layout, options: RunOptions, check: Callable[[], None] = lambda: None,
    devices: DeviceSource | None = None,
) -> Plan:
    """Check everything that can be checked without running a filter, and keep what streams among the inputs hold.

    options  what is not in `spec`.
    check    called now and then; may raise to stop.
    devices  where map tasks may run; None: on the CPU.
    Raises UsageError (options, settings, bundle, inputs), Limitation (kinds of input), JobFailed HD053 (no room for them),
    ToolError HD054 (a package for compressed files is missing).
    """
    conf = _settings(spec, options)
    packing, form_of_input = _packing(conf), input_format.input_format(conf)
    device = _device(options, devices)
    form = keys.pair_form(conf)
    plan_slots(CPU, None, options.cpu_slots, None, conf)
    files = tuple(shipped(spec.files))
    bundle = Path(os.path.abspath(spec.bundle))
    found = manifest.load(bundle)
    reducers = _reducers(conf, options, found)
    commands.check_here(found, bundle, reducers)
    maps_by_filters = bool(form and keys.of_maps(form, reducers, found.program("combine") is not None))
    if maps_by_filters:
        devices = None
    if devices:
        devices.start(device, options.gpus, found, conf)
    ignore = (str(layout.output), str(layout.report), *options.ignore)
    listing = storage.resolve(
        spec.inputs, ignore=ignore, check=check, as_text=conf.get(storage.AS_TEXT), kept=layout.inputs,
        sequence=form_of_input.of_sequence_files)
    nbytes = conf.split_size.of(sum(file.size for file in listing.files))
    splits = _splits(listing.files, nbytes, form_of_input)
    job_id = f"job_{int(time.time() * 1000)}_{os.getpid() % 10000:04d}"
    text = _all_settings(conf, layout, spec.inputs, found.name, job_id, len(splits), reducers)
    text.setdefault(names.MAX_SPLIT, str(nbytes))
    check()
    offload, refused = devices.plan(found, bundle, conf, check) if devices else (None, [])
    if offload is None and device == AUTO:
        check_policy(options.policy, CPU)
    environment = job_environment(os.environb, text, conf.get(names.TRUNCATE))
    cpu = cpu_job(found, bundle, conf, environment, reducers, form_of_input.delimiter)
    host_kernels = conf.get(names.HOST_KERNELS)
    shape = JobShape(
        len(splits), reducers, conf.get("mapreduce.map.maxattempts"), conf.get("mapreduce.reduce.maxattempts"),
    )
    host = host_code(found, bundle, reducers) if host_kernels and not maps_by_filters else None
    return Plan(
        name=text[names.NAME], job_id=job_id, bundle=bundle, cpu=cpu,
        splits=splits, shape=shape, files=files, settings=text,
        slots=plan_slots(device, options.policy, options.cpu_slots, offload, conf),
        warnings=(*conf.warnings, *keys.warnings(conf), *input_format.warnings(conf), *_by_filters(conf, maps_by_filters),
                  *listing.warnings, *refused),
        device=options.device, offload=offload, host=host,
        host_reduce=reduce_program(found, bundle) if host_kernels and not form else None,
        together=together(found, conf, reducers, offload),
        packing=packing, commands={p.role: shlex.join(p.command) for p in found.programs if p.command},
        small=small_files(found, conf, reducers, splits) if host and not offload else NO_SMALL,
        asleep=options.asleep,
    )


def _reducers(conf: JobConf, options: RunOptions, found: manifest.Manifest) -> int:
    given: int | None = conf.get(names.REDUCES)
    if given is not None:
        return given
    return 1 if found.program("reduce") or (options.combining and found.program("combine")) else 0


def _packing(conf: JobConf) -> Form | None:
    """Raises UsageError HD031 (an unknown codec), ToolError HD054."""
    if not conf.get(names.COMPRESS):
        return None
    name = conf.get(names.COMPRESS_CODEC).strip()
    form = CLASSES.get(name)
    if form is None:
        known = ", ".join(one.rpartition(".")[2] for one in CLASSES)
        raise UsageError(f"-D {names.COMPRESS_CODEC}={name}: there is no such codec here", code="HD031",
                         help=f"org.apache.hadoop.io.compress.NAME, where NAME is {known}; or run the job under Hadoop")
    need(form.codec, names.COMPRESS_CODEC)
    return form


def _splits(files: Sequence[InputFile], nbytes: int, form: InputFormat) -> list[Split]:
    """Raises Limitation HD056, UsageError HD010."""
    if not form.lines:
        return plan_splits(files, SplitSize(nbytes), form.reader)
    if packed := next((file for file in files if file.codec), None):
        raise Limitation(f"the input {packed.shown} is compressed: NLineInputFormat counts the lines of files that are not",
                         code="HD056", help="decompress it first, or take another -inputformat")
    try:
        return splits_of_lines(files, form.lines, form.reader)
    except OSError as error:
        raise UsageError(f"cannot read the input {error.filename!r}: {error.strerror}", code="HD010") from None


def _by_filters(conf: JobConf, maps: bool) -> list[Diagnostic]:
    """That no device and no host kernel does the tasks, of reducers alone or of `maps` too, and for which settings."""
    settings = ", ".join(keys.asked(conf))
    tasks = "all tasks, neither devices nor host kernels" if maps else "all reduce tasks, no host kernels"
    return [Diagnostic("warning", "HD435", f"filters do {tasks}: {settings}")] if settings else []


def _device(options: RunOptions, devices: DeviceSource | None) -> str:
    """The device that the job may use. Raises UsageError HD032, HD037: options that cannot be, or not together."""
    check_device(options.device)
    none = gpus.parse(options.gpus) == ()
    device = CPU if options.policy == CPU_ONLY.name or (none and options.device == AUTO) else options.device
    check_policy(options.policy, device)
    if not devices and device not in (CPU, AUTO):
        raise ValueError(f"device {device!r} without a source of devices")
    return device


def _settings(spec: JobSpec, options: RunOptions) -> JobConf:
    given = dict(spec.options)
    if options.split_size is not None:
        given[names.MAX_SPLIT] = "--split-size", str(jobconf.parse_size(str(options.split_size), "--split-size"))
    if options.max_attempts is not None:
        for kind in ("map", "reduce"):
            given[f"mapreduce.{kind}.maxattempts"] = "--max-attempts", str(options.max_attempts)
    if options.ingest_threads is not None:
        given[names.INGEST_THREADS] = "--ingest-threads", str(options.ingest_threads)
    if options.input_format is not None:
        given[names.INPUT_FORMAT] = "-inputformat", input_format.full_name(options.input_format)
    if options.filters:
        given[names.HOST_KERNELS] = "--filters", "false"
    if options.driver is not None:
        given[names.DRIVER] = "--driver", options.driver
    if options.check is not None:
        given[names.CHECK] = "--check", options.check
    return jobconf.parse(spec.settings, given)


def _all_settings(
    conf: JobConf, layout: Layout, inputs: Sequence[str], name: str, job_id: str, maps: int, reducers: int,
) -> dict[str, str]:
    """The honoured settings' defaults, the user's, and what the job knows of itself: what filters are told."""
    text = {key: row.default for key, row in names.heeded_by(Party.RUN).items() if row.default}
    text[names.NAME] = name
    text.update(conf.text)
    text["mapreduce.job.id"] = job_id
    text[names.MAPS] = str(maps)
    text[names.REDUCES] = str(reducers)
    text["mapreduce.job.user.name"] = _user()
    text[names.INPUTS] = ",".join(inputs)
    text[names.OUTPUT] = str(layout.output)
    return text


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid())
