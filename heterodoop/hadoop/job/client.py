"""Hadoop's own client on this machine: where it is, and running `hadoop jar` with it.

Found as Hadoop's users have it: HADOOP_HOME, HADOOP_CONF_DIR, `hadoop` in PATH; `heterodoop cluster env` sets these too.
Not here: what the arguments are (`streaming`), what the cluster says of the job afterwards (`rest`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ... import interrupts, last_resort, scratch
from ...errors import JobFailed, Limitation, ToolError, UsageError
from ...storage import hadoop_conf, hdfs_causes
from ...storage.hadoop_conf import HadoopConf

STREAMING_JAR = "HETERODOOP_STREAMING_JAR"
HELP = 'start one with: heterodoop cluster up; eval "$(heterodoop cluster env)"; or set HADOOP_HOME and HADOOP_CONF_DIR'
LOOK = "heterodoop cluster status; heterodoop doctor"
_JOB = re.compile(r"\bjob_[0-9]{10,}_[0-9]{4,}\b")
_TAIL_LINES = 15
_KILL_MS = 60_000


class ClientInterrupted(KeyboardInterrupt):
    """An interrupt ended the client. `job`: the id it had named by then, which Hadoop may have taken or not; "" for none."""

    def __init__(self, job: str) -> None:
        super().__init__()
        self.job = job


class Hadoop(NamedTuple):
    """`command`: as a shell would find it (`hadoop` or a path); `program`: its path."""

    program: str
    command: str
    streaming_jar: Path
    conf: HadoopConf


def configuration(environ: Mapping[str, str] = os.environ) -> HadoopConf:
    """Hadoop's configuration. Raises ToolError HD620 where there is none, UsageError HD610 for one that cannot be read."""
    conf = hadoop_conf.load(environ=environ)
    if conf.folder is None:
        raise ToolError("no Hadoop: HADOOP_CONF_DIR is not set, nor HADOOP_HOME", code="HD620", help=HELP)
    return conf


def find(environ: Mapping[str, str] = os.environ) -> Hadoop:
    """What a submission needs. Raises ToolError HD620 (a part is missing), HD621 (a configuration without YARN)."""
    conf = configuration(environ)
    home = environ.get("HADOOP_HOME", "")
    program = _program("hadoop", environ)
    if not program:
        where = f"{home}/bin and PATH" if home else "PATH"
        raise ToolError(f"no `hadoop` in {where}", code="HD620", help=HELP)
    framework = conf.get("mapreduce.framework.name", "local")
    if framework != "yarn":
        raise ToolError(
            f"{conf.folder} is the configuration of no cluster: mapreduce.framework.name is {framework}, not yarn",
            code="HD621", help="set HADOOP_CONF_DIR to the folder of the cluster's mapred-site.xml",
        )
    same = shutil.which("hadoop", path=environ.get("PATH")) == program
    return Hadoop(program, "hadoop" if same else program, _streaming_jar(home, environ), conf)


def _program(name: str, environ: Mapping[str, str]) -> str | None:
    home = environ.get("HADOOP_HOME", "")
    found = shutil.which(name, path=os.path.join(home, "bin")) if home else None
    return found or shutil.which(name, path=environ.get("PATH"))


def _streaming_jar(home: str, environ: Mapping[str, str]) -> Path:
    given = environ.get(STREAMING_JAR, "")
    if given:
        if Path(given).is_file():
            return Path(given)
        raise ToolError(f"{STREAMING_JAR} names {given}, which is no file", code="HD620", help=HELP)
    folder = Path(home, "share", "hadoop", "tools", "lib")
    jars = sorted(folder.glob("hadoop-streaming-*.jar")) if home else []
    jars = [jar for jar in jars if not jar.stem.endswith(("-sources", "-tests", "-javadoc"))]
    if not jars:
        where = f"in {folder}" if home else "found: HADOOP_HOME is not set"
        raise ToolError(f"no hadoop-streaming-*.jar {where}", code="HD620", help=f"set {STREAMING_JAR} to its path")
    return jars[-1]


def submit(hadoop: Hadoop, arguments: Sequence[str]) -> str:
    """Run `hadoop jar` with arguments that end with -background; returns the job's id.

    An interrupt ends the client; a job that is not submitted by then never will be. Raises as `explain`, and Limitation
    HD624 (a command that is too long), ToolError HD620.
    """
    with _scratch() as environ:
        said, status = _run([hadoop.program, "jar", str(hadoop.streaming_jar), *arguments], environ)
    found = _JOB.search(said)
    if status or not found:
        raise explain(said, status)
    return found[0]


def kill(job: str) -> bool:
    """Let Hadoop's own client end the job: whether there is one, and it did. An interrupt ends the client."""
    program = _program("mapred", os.environ)
    if not program:
        return False
    wait = f"yarn.app.mapreduce.am.hard-kill-timeout-ms={_KILL_MS}"  # for a busy ApplicationMaster: 10 s are not enough
    with contextlib.suppress(ToolError, subprocess.TimeoutExpired), _scratch() as environ:
        return _run([program, "job", "-D", wait, "-kill", job], environ, _KILL_MS / 1000 + 30)[1] == 0
    return False


@contextlib.contextmanager
def _scratch() -> Iterator[dict[str, str]]:
    """The client's environment, with a folder for what it unpacks: one that is killed leaves it all there."""
    with scratch.folder("client-") as folder:
        environ = environment()
        if not re.search(r"\s", str(folder)):  # Hadoop's scripts know no quotes
            environ["HADOOP_CLIENT_OPTS"] = f"{environ.get('HADOOP_CLIENT_OPTS', '')} -Djava.io.tmpdir={folder}".strip()
        yield environ


def _run(argv: Sequence[str], environ: Mapping[str, str], seconds: float | None = None) -> tuple[str, int]:
    """What a client says, and its exit status. An interrupt ends it at once, and so does the time limit.

    Raises as `_not_started`; subprocess.TimeoutExpired; Cut: the interrupt.
    """
    with tempfile.TemporaryFile() as out, contextlib.ExitStack() as stack:
        try:
            with interrupts.held():
                # A process group of its own: a Ctrl-C is for us to handle, once.
                client = subprocess.Popen(
                    argv, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                stack.enter_context(last_resort.owing(lambda: _kill(client)))
            client.wait(seconds)
        except OSError as error:
            raise _not_started(argv[0], error) from None
        except KeyboardInterrupt:
            stack.close()
            found = _JOB.search(_said(out))
            raise ClientInterrupted(found[0] if found else "") from None
        return _said(out), client.returncode


def _said(out: IO[bytes]) -> str:
    out.seek(0)
    return out.read().decode("utf-8", "surrogateescape")


def _kill(client: subprocess.Popen[bytes]) -> None:
    """With all that it has started, unless it has ended."""
    if client.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(client.pid, signal.SIGKILL)
        client.wait()


def _not_started(program: str, error: OSError) -> Limitation | ToolError:
    if error.errno == errno.E2BIG:
        return Limitation(
            "the job's command is longer than this system allows (128 KiB an argument, some MiB in all)", code="HD624",
            help="name fewer inputs: a folder or a pattern; put large settings into a file: --file",
        )
    return ToolError(f"{program}: {error.strerror}", code="HD620", help=HELP)


def environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Of Hadoop's client: names in UTF-8 whatever the locale, and a log from which the job's id can be read."""
    return {**environ, "LC_ALL": "C.UTF-8", "HADOOP_ROOT_LOGGER": "INFO,console"}


_KNOWN: tuple[tuple[str, str, str], ...] = (
    (r"Output directory (\S.*?) already exists", "HD020", "the output folder {0} exists already"),
    (r"Input path does not exist: (\S.*)", "HD010", "the input {0} does not exist"),
    (r"Input Pattern (\S.*) matches 0 files", "HD012", "no input file matches {0}"),
    (r"(?:to unknown queue|Queue): ?(\S+)", "HD623", "there is no queue {0}"),
    (r"-(\w+) ?: class not found ?: ?(\S+)", "HD623", "-{0}: there is no class {1} (-libjars brings your own)"),
)


def explain(said: str, status: int) -> UsageError | JobFailed | ToolError:
    """What the client's failure means.

    HD020, HD010, HD012, HD623 (the user's), HD622 (unreachable), HD658, HD661 (HDFS takes nothing), HD625 (else).
    """
    for pattern, code, message in _KNOWN:
        if match := re.search(pattern, said):
            return UsageError(message.format(*(group.strip() for group in match.groups())), code=code)
    exceptions = re.findall(r"^(?:Exception in thread \S+ |Caused by: )?[\w.$]+(?:Exception|Error): .*", said, re.MULTILINE)
    if match := re.search(r"Call From \S+ to (\S+) failed|UnknownHostException: (\S+)", said):
        return ToolError(f"{match[1] or match[2]} does not answer", code="HD622", help=LOOK)
    if cause := hdfs_causes.find(said):
        return ToolError(f"Hadoop did not take the job: {cause.meaning}", code=cause.code, help=cause.help)
    kept = [line for line in said.splitlines() if line.strip() and not line.startswith("\tat ")]  # without Java's stacks
    lines = ["its client's last lines:", *kept[-_TAIL_LINES:]]
    what = exceptions[-1] if exceptions else f"its client ended with status {status} and named no job"
    if launching := re.findall(r"Error Launching job : (.+)", said):
        what = launching[-1]
    return JobFailed(f"Hadoop did not take the job: {what}", code="HD625", help="\n".join(lines))
