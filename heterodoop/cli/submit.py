"""`heterodoop submit`, `heterodoop job`, `heterodoop fs`: jobs and files of a Hadoop cluster."""

from __future__ import annotations

from typing import Any

import click

from ..errors import UsageError
from . import job_options
from .messages import show_diagnostics
from .page import of_a_page

# Streaming's other options (StreamJob.setupOptions) and the generic ones: what does the same here. Declared, so that
# they are not taken for short ones with a value: -io for -i o.
_ELSEWHERE: dict[str, str] = {
    "mapper": "the map filter is the bundle's: heterodoop compile map.c, or --map-command COMMAND",
    "combiner": "the combiner is the bundle's: heterodoop compile --combine combine.c, or --combine-command; a Java class"
                " cannot be one",
    "reducer": "the reducer is the bundle's: heterodoop compile --reduce reduce.c, or --reduce-command; NONE is -r 0;"
               " `aggregate` and Java classes cannot be one",
    "file": "here it is --file, with two dashes",
    "cacheFile": "here it is -files URI#NAME",
    "cacheArchive": "here it is -archives URI#NAME",
    "jobconf": "here it is -D KEY=VALUE",
    "conf": "name each setting: -D KEY=VALUE",
    "additionalconfspec": "name each setting: -D KEY=VALUE",
    "inputreader": "it is not there: write an input format for that, and name it with -inputformat",
    "io": "it is not there: filters read and write text, a line a record",
    "mapdebug": "it is not there; Hadoop's setting for it is -D mapreduce.map.debug.script=COMMAND",
    "reducedebug": "it is not there; Hadoop's setting for it is -D mapreduce.reduce.debug.script=COMMAND",
    "dfs": "the cluster is that of HADOOP_CONF_DIR",
    "fs": "the cluster is that of HADOOP_CONF_DIR",
    "jt": "the cluster is that of HADOOP_CONF_DIR",
}
_OURS = ("file", "help")  # with two dashes
_ELSEWHERE_FLAGS: dict[str, str] = {
    "lazyOutput": "it is not there: every reducer makes its file, also an empty one",
    "background": "here it is --detach",
    "verbose": "it is not there; --dry-run shows the job",
    "debug": "it is not there; --dry-run shows the job",
    "info": "here it is --help",
    "help": "here it is --help, with two dashes",
}


def _refused(name: str, why: str, *, flag: bool) -> Any:
    """An option that only says so."""
    def refuse(context: click.Context, parameter: click.Parameter, value: object) -> None:
        if value:
            raise UsageError(f"-{name} is an option of Hadoop Streaming: {why}", code="HD659")

    names = [f"-{name}", *([] if name in _OURS else [f"--{name}"])]
    return click.option(*names, f"streaming_{name.lower()}", is_flag=flag, hidden=True, expose_value=False, is_eager=True,
                        callback=refuse)


_STREAMING = [
    click.option(
        "-cmdenv", "--cmdenv", "environment", multiple=True, metavar="NAME=VALUE", help="Variable for the filters.",
    ),
    click.option("-files", "--files", "hadoop_files", multiple=True, metavar="LIST", help="As Hadoop's -files."),
    click.option("-archives", "--archives", "archives", multiple=True, metavar="LIST", help="As Hadoop's -archives."),
    click.option("-libjars", "--libjars", "libjars", multiple=True, metavar="LIST", help="As Hadoop's -libjars."),
    click.option("-partitioner", "--partitioner", "partitioner", default="", metavar="CLASS", help="Maps run on the CPU."),
    click.option("-inputformat", "--inputformat", "input_format", default="", metavar="CLASS", help="As in streaming."),
    click.option("-outputformat", "--outputformat", "output_format", default="", metavar="CLASS", help="As in streaming."),
]


def _streaming_options(command: Any) -> Any:
    """Options of Hadoop Streaming under its own names, and as GNU long options."""
    elsewhere = [_refused(name, why, flag=False) for name, why in _ELSEWHERE.items()]
    elsewhere += [_refused(name, why, flag=True) for name, why in _ELSEWHERE_FLAGS.items()]
    for option in reversed([*_STREAMING, *elsewhere]):
        command = option(command)
    return command


@click.command("submit")
@click.argument("bundle", type=click.Path())
@click.option("-i", "-input", "--input", "inputs", multiple=True, required=True, metavar="PATH",
              help="Input: a file, a folder or a pattern in HDFS; repeatable.")
@click.option("-o", "-output", "--output", "output", required=True, metavar="PATH", help="Folder to write; must not exist.")
@job_options.reducers("-r", "-numReduceTasks", "--reducers", default="the cluster's")
@job_options.policy("tail (default)", "gpu-first", "gpu-only", "cpu-only", "paper-tail")
@click.option("--cpu-only", is_flag=True, help="A plain Hadoop Streaming job of the CPU filters, without the plug-in.")
@job_options.of_a_job
@_streaming_options
@click.option("--queue", metavar="NAME", help="YARN's queue.")
@click.option("--name", metavar="TEXT", help="Name of the job (default: the bundle's).")
@click.option("--dry-run", is_flag=True, help="Print the `hadoop jar` command that submits the job, and do not run it.")
@click.option("--detach", is_flag=True, help="Print the job's id as soon as it is submitted, and do not wait for it.")
@click.option("--kill-on-exit", is_flag=True, help="Kill the job when this command is interrupted.")
@click.option("--json", "as_json", is_flag=True, help="Print the end, the counters and a failure's cause to stdout as JSON.")
def submit_command(
    bundle: str, inputs: tuple[str, ...], output: str, side_file: str | None, rounds: str | None, until: str | None,
    **options: Any,
) -> None:
    """Run a bundle as a job of a Hadoop cluster, on its GPUs and CPUs together.

    The job is a Hadoop Streaming job: --dry-run shows it. Where no GPU driver runs on a node, or it declines, map tasks run
    on the CPU. The cluster is that of HADOOP_CONF_DIR, `hadoop` the one of HADOOP_HOME or PATH. An interrupt leaves the
    job running.

    With --iterate rounds follow each other, a job each, until the condition of --until is met, the output is the side file
    again, or there were N rounds. Until then they are kept in OUTPUT.rounds, and the same command goes on there, also with
    a job that an interrupt left running.
    """
    from ..commands import execute, submit

    again = execute.wish(side_file, rounds, until)
    submit.submit(bundle, inputs, output, again, show=show_diagnostics, **options)


@click.group("job")
def job_command() -> None:
    """Jobs of the cluster that HADOOP_CONF_DIR names."""


@job_command.command("list")
@click.option("--all", "everything", is_flag=True, help="Jobs that are over, too.")
@click.option("--users", "everybody", is_flag=True, help="Everybody's jobs.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_command(everything: bool, everybody: bool, as_json: bool) -> None:
    """List jobs that are not over, newest first."""
    from ..commands import job

    job.listing(everything=everything, everybody=everybody, as_json=as_json)


@job_command.command("status")
@click.argument("job_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status_command(job_id: str, as_json: bool) -> None:
    """Say how far a job is, or how it ended and why. Exit status 1: it failed or was killed."""
    from ..commands import job

    if status := job.status(job_id, as_json=as_json):
        raise click.exceptions.Exit(status)


@job_command.command("kill")
@click.argument("job_id", metavar="ID")
def kill_command(job_id: str) -> None:
    """End a job."""
    from ..commands import job

    job.kill(job_id)


@job_command.command("logs")
@click.argument("job_id", metavar="ID")
@click.option("--attempt", metavar="ID", default="", help="Only this attempt, or the attempts of this task.")
@click.option("-n", "--lines", type=click.IntRange(min=0), default=0, metavar="N", help="Only the last N of each file.")
def logs_command(job_id: str, attempt: str, lines: int) -> None:
    """Print the logs of a job's task attempts, of failed ones first."""
    from ..commands import job

    job.logs(job_id, attempt, lines)


@job_command.command("report")
@click.argument("job_id", metavar="ID")
@of_a_page
def report_command(job_id: str, output: str | None, svg: str | None, price: str | None, opens: bool) -> None:
    """Make a page of a job that is over: its tasks over time, what bounded it, counters (default: ID.html)."""
    from ..commands import job

    job.report(job_id, output, svg, price, opens=opens)


@job_command.command("counters")
@click.argument("job_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def counters_command(job_id: str, as_json: bool) -> None:
    """Print a job's counters."""
    from ..commands import job

    job.counters(job_id, as_json=as_json)


@click.group("fs")
def fs_command() -> None:
    """Files in the cluster's HDFS, by WebHDFS. Names: /x, hdfs:///x, or x below /user/YOU."""


@fs_command.command("put")
@click.argument("sources", nargs=-1, required=True, type=click.Path())
@click.argument("target")
def put_command(sources: tuple[str, ...], target: str) -> None:
    """Copy local files to HDFS. TARGET is a name that is not there yet, or a folder (ends with / to be made)."""
    from ..commands import fs

    fs.put(sources, target)


@fs_command.command("get")
@click.argument("source")
@click.argument("target", type=click.Path())
def get_command(source: str, target: str) -> None:
    """Copy a file, or the files of a folder, from HDFS to TARGET, which is not there yet, or is a folder."""
    from ..commands import fs

    fs.get(source, target)


@fs_command.command("ls")
@click.argument("paths", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def ls_command(paths: tuple[str, ...], as_json: bool) -> None:
    """List folders of HDFS (default: your home)."""
    from ..commands import fs

    fs.ls(paths, as_json=as_json)


@fs_command.command("cat")
@click.argument("paths", nargs=-1, required=True)
def cat_command(paths: tuple[str, ...]) -> None:
    """Print files of HDFS; of a folder its visible files in order, as of a job's result."""
    from ..commands import fs

    fs.cat(paths)


@fs_command.command("rm")
@click.argument("paths", nargs=-1, required=True)
@click.option("-r", "folders", is_flag=True, help="Folders too, with all that is in them.")
@click.option("-f", "force", is_flag=True, help="Also /, /tmp and homes.")
def rm_command(paths: tuple[str, ...], folders: bool, force: bool) -> None:
    """Remove files of HDFS, for good: they go to no trash."""
    from ..commands import fs

    fs.rm(paths, folders=folders, force=force)
