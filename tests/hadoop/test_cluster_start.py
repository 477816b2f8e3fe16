"""Starting an embedded cluster where something is wrong; Java and Maven are stand-ins, and no Hadoop runs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heterodoop.daemon import processes
from heterodoop.errors import ToolError
from heterodoop.hadoop import cluster
from heterodoop.hadoop.cluster import Options
from heterodoop.hadoop.embedded import class_data, folder, jars, java, proc, state
from heterodoop.hadoop.embedded.folder import Folder

from ..support import COMMAND, ROOT, Done, cli_here, environment

SERVER = "3598"
FAKE_JAVA = """#!/bin/sh
case "$*" in
*-version*) echo 'openjdk version "{version}" 2025-04-15' >&2; exit 0 ;;
*-Xshare:dump*) {dump} ;;
*NameNode\\ -format*) exit 0 ;;
*.NameNode*) {namenode} ;;
esac
exec sleep 3598
"""
FAKE_MAVEN = """#!/bin/sh
for word; do case "$word" in -DoutputDirectory=*) out="${word#*=}" ;; esac; done
echo "$out" >> "$0.calls"
touch "$out/hadoop-streaming-3.4.2.jar" "$out/hadoop-common.jar"
"""
Write = Callable[[str, str], Path]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Put a script into the only folder of PATH, beside the few tools that scripts need."""
    path = tmp_path / "bin"
    path.mkdir()
    for name in ("sh", "sleep", "touch", "env", "echo"):
        found = shutil.which(name)
        assert found
        (path / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def write(name: str, text: str) -> Path:
        (path / name).write_text(text)
        (path / name).chmod(0o755)
        return path / name

    return write


@pytest.fixture
def tools(program: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """A Java whose servers sleep, except for the NameNode, and a Maven that makes empty jars."""
    program("mvn", FAKE_MAVEN)

    home = tmp_path / "jdk" / "bin"
    home.mkdir(parents=True)
    monkeypatch.setenv("JAVA_HOME", str(home.parent))

    def make(name: str, text: str) -> Path:
        (home / name).write_text(text)
        (home / name).chmod(0o755)
        return home / name

    make("java", fake_java())
    return make


def fake_java(namenode: str = "exec sleep 3598", version: str = "17.0.15", dump: str = "exit 1") -> str:
    return FAKE_JAVA.format(namenode=namenode, version=version, dump=dump)


@pytest.fixture(autouse=True)
def no_leftovers() -> Iterator[None]:
    yield
    left = proc.with_argument(SERVER)  # what the stand-in of a server has become
    for process in left:
        processes.send(process, 9)
    assert not left, "a failed start ends what it started"


def up(tmp_path: Path, *more: object, status: int) -> Done:
    return cli_here("cluster", "up", "--dir", tmp_path / "c", *more, status=status)


def test_no_java(program: Write, tmp_path: Path) -> None:
    message = up(tmp_path, status=5).message
    assert "error[HD601]: Hadoop needs Java" in message and "apt install openjdk-17-jdk-headless" in message


@pytest.mark.parametrize(("version", "why"), [
    ("1.8.0_392", "is Java 8; Java 17 or newer is needed"), ("11.0.2", "is Java 11; Java 17 or newer is needed"),
])
def test_an_old_java(program: Write, tmp_path: Path, version: str, why: str) -> None:
    program("java", fake_java(version=version))
    message = up(tmp_path, status=5).message
    assert f"error[HD602]: {tmp_path}/bin/java {why}" in message and "set JAVA_HOME" in message


def test_a_java_too_new_for_the_release(program: Write, tmp_path: Path) -> None:
    program("java", fake_java(version="25"))
    assert "is Java 25; Java 17 to 22 is needed" in up(tmp_path, "--hadoop-version", "3.4.2", status=5).message


def test_a_wrong_java_home(program: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program("java", fake_java())
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert f"error[HD602]: JAVA_HOME={tmp_path}/nowhere has no bin/java" in up(tmp_path, status=5).message
    program("java", "#!/bin/sh\necho broken; exit 1\n")
    with pytest.raises(ToolError, match="does not say a version: broken"):
        java.find({"PATH": str(tmp_path / "bin")})


def test_no_maven(program: Write, tmp_path: Path) -> None:
    program("java", fake_java())
    message = up(tmp_path, status=5).message
    assert "error[HD603]: Maven is needed" in message and "apt install maven" in message


def test_maven_fails(program: Write, tmp_path: Path) -> None:
    program("java", fake_java())
    program("mvn", "#!/bin/sh\necho '[ERROR] Unknown host repository'; exit 1\n")
    message = up(tmp_path, status=5).message
    assert "error[HD604]: Maven cannot bring the jars of Hadoop 3.5.0:\n[ERROR] Unknown host" in message
    assert not jars.cached(jars.release("3.5.0")) and not list((tmp_path / "cache" / "heterodoop").iterdir())


def test_jars_are_fetched_once(tools: Write, tmp_path: Path) -> None:
    found, said = java.find(), []
    for _ in range(2):
        lib = jars.get(jars.release("3.5.0"), found, said.append)
    assert sorted(p.name for p in lib.iterdir()) == ["hadoop-common.jar", "hadoop-streaming-3.4.2.jar"] and len(said) == 1
    assert len((tmp_path / "bin" / "mvn.calls").read_text().splitlines()) == 1
    (tmp_path / "bin" / "mvn").unlink()
    assert jars.get(jars.release("3.5.0"), found) == lib  # offline, and without Maven


def test_several_fetch_at_once(tools: Write, tmp_path: Path) -> None:
    code = "from heterodoop.hadoop.embedded import jars, java; print(jars.get(jars.release('3.5.0'), java.find()))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE) for _ in range(4)]
    told = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0] * 4 and len(told) == 1
    names = [path.name for path in (tmp_path / "cache" / "heterodoop").iterdir()]
    assert len(names) == 1 and names[0].startswith("hadoop-3.5.0-")


DUMP = """
  for word; do case "$word" in
    -XX:SharedArchiveFile=*) echo "classes" > "${word#*=}" ;;
    -XX:SharedClassListFile=*) read -r first < "${word#*=}"; echo "$first" >> "$0.dumps" ;;
  esac; done; exit 0"""


def prepare(said: list[str]) -> Path | None:
    release, found = jars.release("3.5.0"), java.find()
    return class_data.get(release, jars.get(release, found), found, said.append)


def test_hadoop_s_classes_are_prepared_once_for_a_java_and_its_jars(tools: Write, tmp_path: Path) -> None:
    dumps = tools("java", fake_java(dump=DUMP)).with_name("java.dumps")
    said: list[str] = []
    first = prepare(said)
    assert first is not None and first.read_text() == "classes\n" and prepare(said) == first
    assert [text.partition(" (")[0] for text in said] == ["Java prepares the classes of Hadoop 3.5.0"]
    assert dumps.read_text() == "com/ctc/wstx/api/CommonConfig\n"
    first.write_text("damaged")
    assert prepare(said) == first and first.read_text() == "classes\n"
    os.utime(jars.folder(jars.release("3.5.0")) / "hadoop-common.jar", (1, 1))
    second = prepare(said)
    assert second not in (first, None)
    tools("java", fake_java(dump=DUMP) + "# another")
    os.utime(first, (1, 1))  # no cluster was started with it for long
    assert prepare(said) not in (first, second, None) and not first.exists()


def test_a_java_that_cannot_prepare_classes_is_used_without(tools: Write, tmp_path: Path) -> None:
    tools("java", fake_java(dump="echo no such option >&2; exit 1", namenode="echo $* > arguments; exit 1"))
    message = up(tmp_path, status=5).message
    assert "the classes are not prepared, and servers and tasks start slower: " in message and "no such option" in message
    assert "error[HD609]: the namenode ended" in message
    assert "SharedArchiveFile" not in (tmp_path / "c" / "log" / "arguments").read_text()
    assert "SharedArchiveFile" not in (tmp_path / "c" / "conf" / "mapred-site.xml").read_text()
    tools("java", fake_java(dump=DUMP, namenode="echo $* > arguments; exit 1"))
    up(tmp_path, status=5)
    named = f"-XX:SharedArchiveFile={tmp_path}/c/classes.jsa"
    for place in ("log/arguments", "conf/mapred-site.xml", "bin/hadoop"):
        assert named in (tmp_path / "c" / place).read_text()


@pytest.mark.parametrize(("options", "why"), [
    (["--hadoop-version", "2.7.7"], "the embedded cluster has Hadoop 3.5.0, 3.4.2, not 2.7.7"),
    (["--nodes", "0"], "a cluster has 1 to 64 NodeManagers, not 0"),
    (["--memory", "512"], "512 MiB do not hold an application master and a task"),
    (["--owner", "4194400"], "the owner, process 4194400, does not exist"),
])
def test_options_that_cannot_be(tools: Write, tmp_path: Path, options: list[str], why: str) -> None:
    assert f"error[HD605]: {why}" in up(tmp_path, *options, status=2).message and not (tmp_path / "c").exists()


def test_a_folder_with_something_else_in_it(tools: Write, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "thesis.tex").touch()
    assert "cannot be a cluster's folder: it holds something else" in up(tmp_path, status=2).message
    cli_here("cluster", "down", "--delete", "--dir", tmp_path / "c")
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["thesis.tex"]


def test_a_folder_that_settings_cannot_hold(tools: Write, tmp_path: Path) -> None:
    message = cli_here("cluster", "up", "--dir", tmp_path / "a,b", status=2).message
    assert "error[HD606]" in message and "cannot hold the character ','" in message and not (tmp_path / "a,b").exists()


def test_a_folder_of_another_release(tools: Write, tmp_path: Path) -> None:
    folder.prepare(Folder(tmp_path / "c"), "3.4.2")
    message = up(tmp_path, status=2).message
    assert "error[HD606]" in message and "it holds the HDFS of Hadoop 3.4.2" in message


def test_a_folder_that_cannot_be_made(tools: Write, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "Not a directory" in cli_here("cluster", "up", "--dir", tmp_path / "file" / "c", status=2).message


def test_another_command_is_at_work(tools: Write, tmp_path: Path) -> None:
    where = Folder(tmp_path / "c")
    folder.prepare(where, "3.5.0")
    with folder.locked(where, 0):
        message = up(tmp_path, status=2).message
    assert "error[HD607]: another `heterodoop cluster up` or `down` is at work" in message


def test_a_server_that_does_not_start_says_why(tools: Write, tmp_path: Path) -> None:
    trace = "echo 'java.lang.IllegalStateException: oops'; echo 'Caused by: java.io.IOException: disk is full'"
    tools("java", fake_java(namenode=f"{trace}; exit 1"))
    message = up(tmp_path, status=5).message
    assert "error[HD609]: the namenode ended with exit status 1: java.io.IOException: disk is full" in message
    assert f"its log is {tmp_path}/c/log/namenode.out" in message
    assert not (tmp_path / "c" / "cluster.json").exists()
    assert "disk is full" in cli_here("cluster", "logs", "namenode", "--dir", tmp_path / "c").out.decode()


def test_a_server_that_is_killed(tools: Write, tmp_path: Path) -> None:
    tools("java", fake_java(namenode="kill -9 $$"))
    assert "the namenode died of signal 9" in up(tmp_path, status=5).message


def test_other_ports_where_somebody_took_one(tools: Write, tmp_path: Path) -> None:
    tools("java", fake_java(namenode="echo 'java.net.BindException: Address already in use'; echo x >> $PWD/tries; exit 1"))
    assert "Address already in use" in up(tmp_path, status=5).message
    assert (tmp_path / "c" / "log" / "tries").read_text().count("x") == 3


def test_a_cluster_that_is_never_ready(tools: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "READY_SECONDS", 1.0)
    message = up(tmp_path, "--nodes", 2, status=5).message
    assert "not ready after 1 s. Still missing: HDFS takes files; all 2 NodeManagers run; the job history answers" in message


def test_an_owner_that_ends_during_the_start(tools: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start is killed too; only the keeper is left to clean up."""
    code = "import os, sys; from pathlib import Path; from heterodoop.hadoop import cluster;" \
        "cluster.up(cluster.Options(dir=Path(sys.argv[1]), owner=os.getpid()))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    where = Folder(tmp_path / "c")
    with subprocess.Popen([sys.executable, "-c", code, str(where.path)], env=environment) as starter:
        wait_for(lambda: (found := state.read(where)) is not None and "historyserver" in found.pids)
        found = state.read(where)
        starter.kill()
    assert found is not None
    wait_for(lambda: not where.state.exists())
    assert not any(found.alive(name) for name in found.pids if name != state.KEEPER)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_start_that_is_interrupted(tools: Write, tmp_path: Path, number: int) -> None:
    where = Folder(tmp_path / "c")
    argv = [*COMMAND, "cluster", "up", "--dir", str(where.path)]
    with subprocess.Popen(argv, env=environment(), stderr=subprocess.DEVNULL) as starter:
        wait_for(lambda: (found := state.read(where)) is not None and "historyserver" in found.pids)
        starter.send_signal(number)
        assert starter.wait(30) == 130
    assert not where.state.exists() and not proc.with_argument(SERVER)


def wait_for(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_commands_without_a_cluster(tmp_path: Path) -> None:
    where = ["--dir", tmp_path / "c"]
    assert f"error[HD608]: no cluster runs in {tmp_path}/c" in cli_here("cluster", "env", *where, status=2).message
    assert cli_here("cluster", "status", *where, status=1).out.decode() == f"no cluster runs in {tmp_path}/c\n"
    assert json.loads(cli_here("cluster", "status", "--json", *where, status=1).out) == {"alive": {}, "running": False}
    assert cli_here("cluster", "down", *where).out.decode() == f"no cluster runs in {tmp_path}/c\n"
    assert not (tmp_path / "c").exists()


def test_logs_of_applications(tmp_path: Path) -> None:
    where = Folder(tmp_path / "c")
    folder.prepare(where, "3.5.0")
    for node, container in (("node1", "container_17_0001_01_000002"), ("node2", "container_17_0001_01_000001")):
        place = where.path / node / "log" / "application_17_0001" / container
        place.mkdir(parents=True)
        (place / "stderr").write_text(f"one\ntwo\nof {container}")
        (place / "stdout").touch()
    (where.log / "namenode.log").write_text("up\n")

    def logs(*words: object, status: int = 0) -> Done:
        return cli_here("cluster", "logs", *words, "--dir", where.path, status=status)

    listed = [line.split()[:2] for line in logs().out.decode().splitlines()]
    assert listed == [["namenode", "3"], ["application_17_0001", "2"]]
    files = sorted(where.path.glob("node*/log/*/*/stderr"), reverse=True)
    first, second = (f"==> {p} <==\none\ntwo\nof {p.parent.name}\n" for p in files)
    assert logs("application_17_0001").out.decode() == logs("job_17_0001").out.decode() == first + second
    assert logs("container_17_0001_01_000002").out.decode() == second
    assert logs("job_17_0001", "-n", "1").out.decode().count("\n") == 4
    for name in ("secondarynamenode", "application_17_0002", "../conf/core-site", "container_17_0001_01_000009"):
        assert "error[HD600]: there are no logs of " in logs(name, status=2).message


def test_the_default_folder() -> None:
    assert folder.default({"HETERODOOP_CLUSTER_DIR": "/x"}) == Path("/x")
    assert folder.default({"XDG_STATE_HOME": "/state"}) == Path("/state/heterodoop/cluster")
    assert folder.default({}) == Path.home() / ".local" / "state" / "heterodoop" / "cluster"


def test_a_state_left_by_another_run_of_the_kernel(tools: Write, tmp_path: Path) -> None:
    """Pids in it may be anybody's by now: nothing is ended, and a new cluster may start."""
    where = Folder(tmp_path / "c")
    folder.prepare(where, "3.5.0")
    mine = processes.identify(os.getpid())
    assert mine is not None
    names = {"namenode-web": 1, "namenode": 2, "resourcemanager-web": 3, "historyserver-web": 4, "nodemanager1-web": 5}
    old = state.ClusterState(
        id="x", boot="another", version="3.5.0", user="u", nodes=1, memory=2048, java="/j", dir=str(where.path),
        ports={**names, "nodemanager1": 6}, ready=True,
    ).with_process("namenode", mine)
    state.write(old)
    assert state.read(where) == old and not old.alive("namenode")
    assert cluster.down(where.path) and not where.state.exists()


def test_make_names_the_packages_where_it_may_not_install_them(program: Write, tmp_path: Path) -> None:
    program("id", "#!/bin/sh\necho 1000\n")
    for name in ("make", "bash"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name, path=os.defpath) or "")
    done = subprocess.run(["make", "hadoop-tools"], cwd=ROOT, capture_output=True, text=True, check=False, env={
        "PATH": str(tmp_path / "bin")})
    assert done.returncode == 2
    assert "Java 17 and Maven are needed (Debian, Ubuntu: apt install openjdk-17-jdk-headless maven)" in done.stderr
    for name in ("javac", "mvn"):
        program(name, "#!/bin/sh\n")
    subprocess.run(["make", "hadoop-tools"], cwd=ROOT, check=True, env={"PATH": str(tmp_path / "bin")})


def test_options_have_the_documented_defaults() -> None:
    assert (Options().nodes, Options().memory, Options().version) == (3, 2048, "3.5.0")


def test_a_release_with_a_damaged_jar_is_fetched_again(tools: Write, tmp_path: Path) -> None:
    found = java.find()
    lib = jars.get(jars.release("3.5.0"), found)
    whole = (lib / "hadoop-common.jar").read_bytes()
    (lib / "hadoop-common.jar").write_bytes(whole + b"x")
    assert not jars.cached(jars.release("3.5.0"))
    assert jars.get(jars.release("3.5.0"), found) == lib and (lib / "hadoop-common.jar").read_bytes() == whole
    for lose in (lambda sums: sums.write_text(""), Path.unlink):  # as a power cut may
        lose(lib.parent / "sums")
        assert not jars.cached(jars.release("3.5.0")) and jars.get(jars.release("3.5.0"), found) == lib
