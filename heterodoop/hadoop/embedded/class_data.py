"""The classes of a Hadoop release as a JVM has read and checked them, in one file that all JVMs of a cluster map.

Hadoop's JVMs live for seconds, and read and verify thousands of classes first: with the file a server computes a third less
until it answers (JEP 310, JEP 341: class-data sharing). It is made once for a Java and a release, from the list in
runtime/hadoop/classes.txt. Any JVM works without it, and one that finds another Java, jar or class path than the file was
made with passes it over: it only ever saves time.

The list is what JVMs themselves say: servers and commands with JDK_JAVA_OPTIONS=-XX:DumpLoadedClassList=FILE.%p in their
environment, tasks with the same in mapreduce.map.java.opts and its like.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ... import resources, scratch
from ...errors import ToolError
from ...toolchain import cache, cc
from .jars import Release, Say
from .java import Java

_SECONDS = 600.0
_KEPT_SECONDS = 30 * 24 * 3600.0
_QUIET = "-Xlog:cds=off"  # a file that does not fit is told on standard output, which is a command's own


def get(of: Release, lib: Path, java: Java, say: Say) -> Path | None:
    """The file for the jars in `lib`, about 130 MB, made if it is not there yet. None: this Java cannot make one."""
    names = resources.find("runtime", "hadoop", "classes.txt")
    folder = cache.folder() / "class-data"
    path = folder / f"hadoop-{of.version}-{_key(names, lib, java)}.jsa"
    if not path.exists():
        say(f"Java prepares the classes of Hadoop {of.version} (once, half a minute)")
    try:
        made = cache.get(path, lambda partial: _make(names, lib, java, partial))
        os.utime(made)
    except (OSError, ToolError) as error:
        say(f"the classes are not prepared, and servers and tasks start slower: {error}")
        return None
    _sweep(folder)
    return made


def options(file: Path) -> str:
    """Words for a JVM whose class path begins with the release's jars; a file that is gone, or does not fit, is no error."""
    return f"-Xshare:auto -XX:SharedArchiveFile={file} {_QUIET}"


def _key(names: Path, lib: Path, java: Java) -> str:
    """Another Java, list or jar is another file. A JVM itself looks at each jar's size and time."""
    stats = [(path.name, path.stat()) for path in sorted(lib.iterdir())]
    jars = [f"{name} {status.st_size} {status.st_mtime_ns}" for name, status in stats]
    tools = [cache.identity(str(java.home / place)) for place in ("bin/java", "lib/modules", "lib/server/libjvm.so")]
    return cache.key([names.read_bytes(), str(lib), *jars, *tools])


def _make(names: Path, lib: Path, java: Java, partial: Path) -> None:
    """Raises ToolError where Java makes none."""
    with scratch.folder("class-data-") as own:
        listed = own / "classes"
        listed.write_text("".join(f"{name}\n" for name in _classes(names)), encoding="ascii")
        # G1: the objects that the file holds too are written by this collector alone, and read by every one.
        argv = [java.command, "-Xshare:dump", "-XX:+UseG1GC", "-XX:TieredStopAtLevel=1", f"-XX:SharedClassListFile={listed}"]
        done = cc.run([*argv, f"-XX:SharedArchiveFile={partial}", "-cp", f"{lib}/*"], cwd=str(own), timeout=_SECONDS)
    if done.returncode or not partial.is_file():
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise ToolError(f"{java.command} -Xshare:dump: exit status {done.returncode}: {said}", code="HD602")


def _classes(names: Path) -> Iterator[str]:
    """Internal names of classes: `java/lang/Object`."""
    for line in names.read_text(encoding="ascii").splitlines():
        package, _, classes = line.partition(": ")
        if not line.startswith("#"):
            yield from (f"{package}/{name}" for name in classes.split())


def _sweep(folder: Path) -> None:
    """Remove files that no cluster was started with for a month: of Javas and jars that are gone."""
    limit = time.time() - _KEPT_SECONDS
    for path in folder.glob("*.jsa"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()
                path.with_name(f"{path.name}.sum").unlink(missing_ok=True)
