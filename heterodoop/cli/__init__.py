"""The command line: parses, calls, prints. Decides nothing.

Commands import what they need when they run, so that `heterodoop --help` answers at once and works on a machine
where a part is missing (docs/decisions/0005).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from ..errors import EXIT_BUG, EXIT_INTERRUPTED, EXIT_LIMITATION, EXIT_OK, CompilerBug, HeteroDoopError, UserError
from . import job_options, refusals, standard_files
from .messages import printable, show_diagnostics

if TYPE_CHECKING:
    from ..executor.worker.spawn import Early

# Commands of modules beside this one: module and attribute.
_ELSEWHERE = {
    "cluster": ("cluster", "cluster_command"),
    "driver": ("driver", "driver"), "fs": ("submit", "fs_command"), "job": ("submit", "job_command"),
    "report": ("page", "report_command"), "simulate": ("simulate", "simulate_command"),
    "submit": ("submit", "submit_command"),
}
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class _Commands(click.Group):
    """Loads the module of a command when it is named, or all are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        module, attribute = _ELSEWHERE[cmd_name]
        found: click.Command = getattr(importlib.import_module(f".{module}", __name__), attribute)
        return found


@click.group(cls=_Commands, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="heterodoop")
@click.option("--debug", is_flag=True, help="Show the Python traceback of an error.")
def cli(debug: bool) -> None:
    """Run plain C MapReduce filters on CPUs and GPUs together.

    Exit status: 0 done, 1 the job failed, 2 wrong usage, 3 errors in the program, 4 a known limitation,
    5 something is missing on this machine, 70 an internal error, 130 interrupted.
    """


def _compile_options(command: Any) -> Any:
    """The options that the C compiler gets, shared by every command that can compile."""
    options = [
        click.option("--combine", type=click.Path(), help="The combiner's file (default: combine.c or .cc of the folder)."),
        click.option("--reduce", type=click.Path(), help="The reducer's file (default: reduce.c or .cc of the folder)."),
        click.option("-I", "include", multiple=True, metavar="DIR", help="Folder for #include; repeatable."),
        click.option("-D", "define", multiple=True, metavar="NAME[=VALUE]", help="Macro for the C compiler; repeatable."),
        click.option("-l", "library", multiple=True, metavar="LIB", help="Library to link with; repeatable."),
        click.option(
            "-std", "--std", "std", default="", show_default="$CC's, or gnu11",
            help="C standard; one of C++ (c++20) is that of C++ files.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _command_options(command: Any) -> Any:
    """Programs that are no C."""
    for role in ("reduce", "combine", "map"):
        help = f"A command that is the {role} program, in place of a file."
        command = click.option(f"--{role}-command", metavar="COMMAND", help=help)(command)
    help = "File for a command's working folder, carried in the bundle; repeatable."
    return click.option("--file", "files", multiple=True, metavar="PATH[#NAME]", help=help)(command)


def _kernel_options(command: Any) -> Any:
    """How kernels are made."""
    options = [
        click.option("--opt", default="default", show_default=True, help="Set of optimisations: default or paper."),
        click.option("--no-opt", "no_opt", multiple=True, metavar="NAME", help="Switch one of them off; repeatable."),
        click.option(
            "--arch", multiple=True, metavar="ARCH", envvar="HETERODOOP_ARCH",
            help="GPU to compile kernels for: sm_90, compute_80 (PTX), none; repeatable (default: this machine's).",
        ),
        click.option(
            "--libm", type=click.Choice(["own", "system"]), default="own", show_default=True,
            help="Whose exp, log, pow, sin ...: ours, the same bits on CPU and GPU, or the C library's, on the CPU only.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@cli.command("compile")
@click.argument("source", nargs=-1, type=click.Path())
@click.option("-o", "--output", type=click.Path(), help="The bundle to write (default: NAME.hdp here).")
@click.option("--emit", metavar="STAGE", help="Print a stage instead of making a bundle; '--emit help' lists them.")
@click.option("--verify", "verify", is_flag=True, help="Check the IR's invariants after every pass.")
@click.option("--time-passes", "timed", is_flag=True, help="Say how long each step of the analysis took.")
@_command_options
@_kernel_options
@_compile_options
def compile_command(source: tuple[str, ...], output: str | None, emit: str | None, timed: bool, **options: Any) -> None:
    """Compile an app into a bundle.

    SOURCE is a folder with map.c and, optionally, combine.c and reduce.c, or the map's C file. Further C files are
    linked into every filter. C++ (.cc, .cpp, .cxx) is taken as well, and runs on the CPU.

    A program may be any command instead, on the CPU: --map-command 'python3 map.py'. A file of this folder that the command
    names, and what --file names, are carried in the bundle. With a --map-command SOURCE may be left out.
    """
    from ..compiler import compile as compiling

    if not source and options["map_command"] is None:
        raise click.UsageError("Missing argument 'SOURCE...' (or --map-command).")
    build = compiling.BuildOptions.make(source, **options)
    if emit is not None:
        from ..compiler import spine

        click.echo(spine.emit(build, emit, partial(click.echo, err=True) if timed else None), nl=False)
        return
    bundle, result = compiling.compile_to_bundle(build, Path(output) if output else None, anew=timed, mend=True)
    show_diagnostics(result.warnings)
    if timed:
        click.echo(compiling.times_text(result), err=True)
    click.echo(compiling.summary(bundle, result.manifest), err=True)


@cli.command("run")
@click.argument("bundle", type=click.Path())
@click.argument("inputs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(), help="Folder to write; must not exist yet.")
@job_options.reducers("-r", "--reducers", default="1")
@click.option("--split-size", metavar="BYTES", help="Size of an input split, as 8m (default: 1/32 of the input, 4m to 64m).")
@click.option(
    "-inputformat", "--inputformat", "input_format", metavar="CLASS",
    help="As in Hadoop Streaming: TextInputFormat (default), KeyValueTextInputFormat, NLineInputFormat,"
         " SequenceFileAsTextInputFormat, SequenceFileInputFormat.",
)
@click.option(
    "--cpu-slots", metavar="N",
    help="Tasks at a time on the CPU (default: this process's processors, less those that read for GPUs in use).",
)
@click.option(
    "--device", metavar="NAME", default="auto", show_default=True,
    help="Where map tasks run: auto (GPUs and CPU, if there are GPUs that can be used and the bundle has kernels; else the"
         " CPU), cpu, cuda (GPUs and CPU; an error where there is none), or emulated (kernels on the CPU: to try them out).",
)
@click.option("--cpu-only", is_flag=True, help="The same as --device cpu.")
@click.option("--gpus", metavar="LIST", default="all", show_default=True, help="GPUs to use: all, none, or numbers (0,1).")
@job_options.policy("tail (default)", "gpu-first", "gpu-only (default with --device emulated)", "cpu-only", "paper-tail")
@click.option(
    "--ingest-threads", metavar="N",
    help="Threads that read for one GPU (default: from the processors, 12 at most); so many CPU slots fewer.",
)
@click.option(
    "--check", metavar="WHICH",
    help="What of the device's map tasks the CPU does too, to compare: none, sample (the start of the first one), first,"
    " all (default: auto, which is none: kernels check themselves).",
)
@click.option(
    "--driver", metavar="WHEN",
    help="Whether the GPUs of a driver that runs on this machine are used (heterodoop driver start): auto (default) or"
         " never.",
)
@click.option("--filters", is_flag=True, help="Run filters on the CPU, not host kernels (map with combiner, reducers).")
@click.option("--max-attempts", metavar="N", help="Times a task is tried before the job fails (default: 4).")
@job_options.of_a_job
@click.option("--json", "as_json", is_flag=True, help="Print the job report to stdout as JSON.")
@click.option("--open", "opens", is_flag=True, help="Make a page of the report, OUTPUT.html, and show it in a browser.")
def run_command(
    bundle: str, inputs: tuple[str, ...], output: str, cpu_only: bool, side_file: str | None, rounds: str | None,
    until: str | None, opens: bool, **options: Any,
) -> None:
    """Run a job on this machine.

    BUNDLE is what `heterodoop compile` made, or an app's folder or map.c (map.cc), which is then compiled first (for GPUs
    too, where the job may use one). INPUTS are files, folders, globs, pipes, - for stdin, and hdfs: addresses. The result is
    OUTPUT/part-00000 and so on, with OUTPUT/_SUCCESS written last; the job's report and logs are in OUTPUT.report.

    With --iterate rounds follow each other until the condition of --until is met, the output is the side file again, or
    there were N rounds. An interrupted job keeps its rounds in OUTPUT.rounds, and the same command goes on there.
    """
    from ..commands import early
    from ..engine.job import device_names
    from ..executor.task import orphans

    if cpu_only:
        options["device"] = device_names.cpu_instead_of(options["device"])
    with orphans.held(), early.worker(bundle, () if side_file else inputs, options) as worker:
        _run(bundle, inputs, output, side_file, rounds, until, worker, options)
    if opens:
        from ..commands import report

        report.of_folder(f"{output.rstrip('/')}.report", f"{output.rstrip('/')}.html", None, None, opens=True)


def _run(
    bundle: str, inputs: tuple[str, ...], output: str, side_file: str | None, rounds: str | None, until: str | None,
    early: Early | None, options: dict[str, Any],
) -> None:
    from ..commands import execute, run
    from ..engine.terminal.signals import StopSignals

    again = execute.wish(side_file, rounds, until)
    with _bundle(bundle, options, output) as path:
        # To the command's end: a signal that comes after the output is in place is too late, it does not fail the job.
        click.get_current_context().find_root().with_resource(StopSignals())
        asleep = early.asleep if early else ""
        devices = _device_source(run.may_use_device(options) and not asleep, lasting=again is not None, early=early)
        run.run(path, inputs, output, again, show=show_diagnostics, devices=devices, asleep=asleep, **options)


def _device_source(wanted: bool, *, lasting: bool, early: Early | None) -> Any:
    """What knows devices; None where the job needs none of it."""
    if not wanted:
        return None
    from ..engine.devices.devices import DeviceSource

    return DeviceSource(lasting=lasting, early=early, borrow=True, last=not lasting)


@contextlib.contextmanager
def _bundle(name: str, options: dict[str, Any], output: str | None = None) -> Iterator[Path]:
    """The bundle; an app is compiled first, into a folder that is gone after the job, for the GPUs that the job may use."""
    from ..commands import run

    if not run.needs_compiling(name):
        yield Path(name)
        return
    from ..commands import compiled

    insist = options["device"] == "cuda"
    with compiled.Compiled(name, show_diagnostics, output, gpu=run.may_use_gpu(options), insist=insist) as path:
        yield path


@cli.command("verify")
@click.argument("bundle", type=click.Path())
@click.argument("inputs", nargs=-1, required=True)
@click.option("--device", metavar="NAME", help="The device to compare with the CPU (default: emulated).")
@click.option("--host", is_flag=True, help="Compare the host kernel with filters, both on the CPU, and no device.")
@click.option("-r", "--reducers", metavar="N", help="Partitions of the map output; 0 = none (default: 1, to combine).")
@click.option("--split-size", metavar="BYTES", help="Size of an input split, as 8m (default: 1/32 of the input, 4m to 64m).")
@click.option("--cpu-slots", metavar="N", help="Tasks at a time (default: the processors this process may use).")
@click.option("--record-delimiter", metavar="TEXT", help="End of a record, as for run.")
@click.option("-D", "settings", multiple=True, metavar="KEY=VALUE", help="Job setting, as for run; repeatable.")
@click.option("--file", "files", multiple=True, metavar="PATH[#NAME]", help="File for the filters, as for run; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the result to stdout as JSON.")
def verify_command(bundle: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Compare a device, or the host kernel, with the CPU's filters on every map task of a job.

    BUNDLE and INPUTS are as for `heterodoop run`. Each map task (with the combiner, if there is one) runs as the CPU
    filter and as kernels, in several orders of the lanes and with several patterns in unwritten memory, and the outputs
    are compared; with --host, once as the host kernel. Nothing is written. Exit status 1: they differ.
    """
    from ..commands import verify
    from ..executor.task import orphans

    options["device"] = verify.device_of(options["device"], host=options["host"])
    with orphans.held(), _bundle(bundle, options) as path:
        verify.verify(path, inputs, show=show_diagnostics, **options)


@cli.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor_command(as_json: bool) -> None:
    """Say what works on this machine, and what to install for what does not.

    C compiler, native runtime, CUDA compiler and driver, GPUs with their memory, Java, Maven, Hadoop and what
    its configuration leaves open. Exit status 0 where jobs can run on the CPU, else 5.
    """
    from ..commands import doctor

    if status := doctor.doctor(as_json=as_json):
        raise click.exceptions.Exit(status)


@cli.command("explain")
@click.argument("what", nargs=-1, required=True)
@click.option("--why-not-gpu", "why_not", is_flag=True,
              help="Only what keeps the programs off GPUs, or makes them slower there, and what to change.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@_kernel_options
@_compile_options
def explain_command(what: tuple[str, ...], why_not: bool, as_json: bool, **options: Any) -> None:
    """Say what the compiler understood of an app and decided, and why; or what an error code means.

    WHAT is an app's folder, a map.c, a bundle, or a code like HD104. Exit status with --why-not-gpu: 0 where the map runs
    on GPUs, else 4.
    """
    from .. import explain, why_not_gpu

    if len(what) == 1 and explain.is_code(what[0]):
        click.echo(explain.explain_code(what[0]), nl=False)
        return
    manifest = _manifest_of(what, options)
    if not why_not:
        click.echo(explain.explain_json(manifest) if as_json else explain.explain_text(manifest), nl=False)
        return
    click.echo(printable(why_not_gpu.as_json(manifest) if as_json else why_not_gpu.text(manifest)), nl=False)
    if not why_not_gpu.runs(manifest):
        raise click.exceptions.Exit(EXIT_LIMITATION)


def _manifest_of(what: tuple[str, ...], options: dict[str, Any]) -> Any:
    from .. import manifest
    from ..compiler import spine
    from ..compiler.app import BuildOptions

    if len(what) == 1 and os.path.lexists(Path(what[0]) / manifest.FILE):
        return manifest.load(Path(what[0]))
    result = spine.analyse(BuildOptions.make(what, verify=False, **options), mend=True)
    show_diagnostics(result.warnings)
    return result.manifest


def report(error: HeteroDoopError) -> int:
    """Print an error as the user sees it; returns the exit code."""
    if isinstance(error, UserError) and error.diagnostics:
        show_diagnostics(error.diagnostics)
        return error.exit_code
    click.echo(printable(error.told), err=True)
    return error.exit_code


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Entry point: runs a command, turns every error into a message and an exit code."""
    debug, done = "--debug" in sys.argv[1:], False
    standard_files.hold()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` leaves it
            signal.signal(number, _stop)  # as Ctrl-C: every `with` and `finally` on the way removes what it made
    try:
        # Not cli.main(): click would turn a reader of our output that went away into exit status 1.
        with cli.make_context("heterodoop", sys.argv[1:]) as context:
            cli.invoke(context)
            done = True
        sys.stdout.flush()
        code = EXIT_OK
    except HeteroDoopError as error:
        if debug or error.exit_code == EXIT_BUG:
            import traceback

            traceback.print_exc()
        code = report(error)
    except click.exceptions.Exit as end:
        code = end.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except BrokenPipeError:
        # The reader of our output went away (`| head`): quietly done, as documented. Python must not flush again at exit.
        standard_files.give_up_stdout()
        code = EXIT_OK
    except KeyboardInterrupt:
        code = EXIT_OK if done else EXIT_INTERRUPTED
    except Exception as error:
        code = EXIT_INTERRUPTED if _was_interrupted(error) else _unexpected(error)
    sys.exit(code)


def _was_interrupted(error: BaseException | None) -> bool:
    """Python 3.11 makes a RuntimeError of an interrupt that comes while a class is being made, as in an import."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _unexpected(error: Exception) -> int:
    """A full disk behind stdout, what the machine refuses, or what nobody raises on purpose: our fault."""
    refused = standard_files.refused(error) if isinstance(error, OSError) else None
    if refused is not None:
        standard_files.give_up_stdout()
        return report(refused)
    outside = refusals.by_the_machine(error)
    return report(outside) if outside else _bug(error)


def _bug(error: Exception) -> int:
    import traceback

    traceback.print_exc()
    return report(CompilerBug(f"{type(error).__name__}: {error}", help="please report it with the lines above"))
