"""Builds the plug-in that unmodified Hadoop loads: runtime/hadoop -> heterodoop/_native/heterodoop-mr.jar, with Maven.

`python -m heterodoop.toolchain.plugin [-o JAR] [--test]` needs a JDK, Maven and, the first time, Maven's repository on the
network. setup.py puts the jar into the wheel where it was built before; nothing but jobs on Hadoop needs it. An installation
without it has the first job build it into the cache, under a hash of its sources.

Not here: Hadoop's own jars (hadoop/embedded/jars.py), and how a job gets the plug-in (hadoop/submit/streaming.py).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .. import scratch
from ..errors import HeteroDoopError, ToolError
from ..resources import PACKAGE, find
from . import cache

BUILD_HADOOP = "python -m heterodoop.toolchain.plugin"
JAR = PACKAGE / "_native" / "heterodoop-mr.jar"
MAVEN_OPTS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Maven ends before what it optimises more pays; where not set
_TAIL = 6000


def find_jar() -> Path:
    """The plug-in's jar; HETERODOOP_MR_JAR names another one. Raises ToolError HD650 where it was not built."""
    path = Path(os.environ.get("HETERODOOP_MR_JAR") or JAR)
    if path.is_file():
        return path
    raise ToolError(
        f"the Hadoop plug-in is not built: {path} is missing", code="HD650",
        help=f"install a JDK and Maven (Debian, Ubuntu: apt install openjdk-17-jdk-headless maven) and run: {BUILD_HADOOP}",
    )


def cached_jar() -> Path:
    """Where the jar of these sources lies when a job has built it. Raises ToolError HD501, HD516."""
    sources = cache.tree(find("runtime", "hadoop"), (".java", ".xml"))
    return cache.folder() / "plug-in" / cache.key(sources) / JAR.name


def existing() -> Path | None:
    """A jar that is built: the one that HETERODOOP_MR_JAR names, this installation's, or one that a job has built.

    Raises as `find_jar` and `cached_jar`.
    """
    if os.environ.get("HETERODOOP_MR_JAR") or JAR.is_file():
        return find_jar()
    return path if cache.is_whole(path := cached_jar()) else None


def provide(say: Callable[[str], None]) -> Path:
    """The plug-in's jar, built where there is none yet. `say`: told before something that takes long.

    Raises ToolError HD650 (there are no tools to build it), HD653 (Maven failed), and as `cached_jar`.
    """
    if found := existing():
        return found
    check_tools()
    say("the plug-in for Hadoop is built with Maven, once; this takes a minute")
    return cache.get(cached_jar(), build)


def check_tools() -> None:
    """Raises ToolError HD650: the jar is not built, and cannot be here."""
    try:
        _require_jdk()
        _maven()
    except ToolError as error:
        raise ToolError(
            f"the Hadoop plug-in is not built, and cannot be: {error.message}", code="HD650",
            help=f"{error.help}; or set HETERODOOP_MR_JAR to a jar that was built elsewhere ({BUILD_HADOOP} -o JAR)",
        ) from None


def build(target: Path, *, test: bool = False, hadoop_version: str = "") -> Path:
    """Compile the plug-in into `target`, which appears complete or not at all; returns it.

    test            run its JUnit tests first (about a minute).
    hadoop_version  of the jars to compile and test against, "" for the pom's own.
    Raises ToolError HD651 (no JDK), HD652 (no Maven), HD653 (Maven failed; its words are in the message).
    """
    _require_jdk()
    maven = _maven()
    target.parent.mkdir(parents=True, exist_ok=True)
    with scratch.folder(f".{target.name}.", target.parent) as folder:
        words = [maven, "-q", "-B", "-C"]  # -C: what does not have its checksum is not used
        words += ["-f", str(find("runtime", "hadoop", "pom.xml")), f"-Dbuild.dir={folder}", "package"]
        words += [] if test else ["-Dmaven.test.skip=true"]
        words += [f"-Dhadoop.version={hadoop_version}"] if hadoop_version else []
        (folder / "work").mkdir()
        environment = {"MAVEN_OPTS": MAVEN_OPTS, **os.environ}
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, env=environment)
        if done.returncode:
            raise ToolError(f"{' '.join(words)} failed:\n{_tail(done.stdout + done.stderr)}", code="HD653")
        scratch.into_place(folder / JAR.name, target)
    return target


def _require_jdk() -> None:
    home = os.environ.get("JAVA_HOME", "")
    found = shutil.which("javac", path=str(Path(home, "bin"))) if home else shutil.which("javac")
    if found is None:
        looked = f"JAVA_HOME={home} has no bin/javac" if home else "no javac in PATH"
        raise ToolError(
            f"Java's compiler was not found: {looked}", code="HD651",
            help="install a JDK (Debian, Ubuntu: apt install openjdk-17-jdk-headless), or set JAVA_HOME to one",
        )


def _maven() -> str:
    found = shutil.which("mvn")
    if found is None:
        raise ToolError(
            "Maven was not found: no mvn in PATH", code="HD652", help="install it (Debian, Ubuntu: apt install maven)")
    return found


def _tail(text: str) -> str:
    """The end of Maven's words, where its reason stands, without the traces of its own classes."""
    lines = [line for line in text.splitlines() if not line.startswith(("    at ", "\tat org.junit", "\tat java.base"))]
    kept = "\n".join(lines).strip()
    return kept if len(kept) <= _TAIL else f"...{kept[-_TAIL:]}"


def main() -> None:
    """Build the jar into this installation, or to the file after -o, and say where it lies."""
    parser = argparse.ArgumentParser(prog=BUILD_HADOOP, description="Build HeteroDoop's plug-in for Hadoop with Maven.")
    parser.add_argument("-o", "--output", type=Path, default=JAR, help="the jar to write")
    parser.add_argument("--test", action="store_true", help="run the JUnit tests too")
    parser.add_argument("--hadoop-version", default="", metavar="V", help="compile and test against this Hadoop")
    options = parser.parse_args()
    try:
        print(build(options.output, test=options.test, hadoop_version=options.hadoop_version))
    except HeteroDoopError as error:
        print(error.told, file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
