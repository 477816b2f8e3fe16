"""The jars of a Hadoop release, fetched once by Maven into a folder that all checkouts of this user share.

A release's folder appears complete or not at all, is never changed, and is used without Maven and network from then on. It
is fetched again where a jar is not what was fetched.
Not here: building our own plug-in (`toolchain.plugin`); an existing Hadoop has its jars itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ... import manifest, resources, scratch
from ...errors import ToolError, UsageError
from ...toolchain import cache, cc
from .java import Java

Say = Callable[[str], None]
MAVEN_PACKAGE = "maven"
_SECONDS = 1800.0
_ERRORS = 4
_SUMS = "sums"


@dataclass(frozen=True)
class Release:
    """A Hadoop release that can be started from Maven Central's jars.

    streaming   release of its hadoop-streaming: 3.5.0 has none there, and 3.4.2's runs on it.
    opens       Java 17 must open java.lang to its servers and application masters (Guice 4, cglib).
    newest_java  the newest Java that it runs on, 0 = no limit known (HADOOP-19212: Subject.doAs of Java 23).
    """

    version: str
    streaming: str
    opens: bool
    newest_java: int


RELEASES = {r.version: r for r in (Release("3.5.0", "3.4.2", False, 0), Release("3.4.2", "3.4.2", True, 22))}
DEFAULT = "3.5.0"


def release(version: str) -> Release:
    """Raises UsageError HD605 for a release that is not in RELEASES."""
    if version in RELEASES:
        return RELEASES[version]
    known = ", ".join(RELEASES)
    raise UsageError(f"the embedded cluster has Hadoop {known}, not {version}", code="HD605", help="omit --hadoop-version")


def folder(of: Release) -> Path:
    """Where the release's jars are or will be. Another list of jars is another folder: running clusters keep theirs."""
    digest = hashlib.sha256(_pom().read_bytes() + of.streaming.encode()).hexdigest()[:8]
    return cache.folder() / f"hadoop-{of.version}-{digest}" / "lib"


def cached(of: Release) -> bool:
    """Whether all its jars are there, as they were fetched."""
    lib = folder(of)
    sums = lib.parent / _SUMS
    with contextlib.suppress(OSError):
        return sums.read_text(encoding="ascii") == _sums(lib)
    return False


def get(of: Release, java: Java, say: Say = lambda text: None) -> Path:
    """The folder with the release's jars, about 190 files and 110 MB; filled by Maven if it is not there yet.

    Raises ToolError HD603 (no Maven), HD604 (Maven fails; the message has its reason).
    """
    lib = folder(of)
    if cached(of):
        return lib
    maven = find_maven()
    say(f"Maven fetches the jars of Hadoop {of.version} (once, about 110 MB)")
    lib.parent.parent.mkdir(parents=True, exist_ok=True)
    with scratch.folder(f".{lib.parent.name}.", lib.parent.parent) as own:
        partial = own / lib.parent.name
        _copy(of, java, maven, partial / "lib")
        (partial / _SUMS).write_text(_sums(partial / "lib"), encoding="ascii")
        if lib.parent.exists() and not cached(of):  # damaged, or of an older version of ours
            lib.parent.rename(own / "damaged")
        try:
            partial.rename(lib.parent)
        except OSError:  # somebody else was faster; a folder with files in it is never replaced
            if not cached(of):
                raise
    return lib


def _sums(lib: Path) -> str:
    """A line a jar: hash and name. Raises OSError."""
    return "".join(f"{manifest.sha256(path)} {path.name}\n" for path in sorted(lib.iterdir()))


def find_maven(environ: Mapping[str, str] = os.environ) -> str:
    """Maven's command. Raises ToolError HD603."""
    found = shutil.which("mvn", path=environ.get("PATH", os.defpath))
    if found is None:
        help = f"install Maven (Debian, Ubuntu: apt install {MAVEN_PACKAGE})"
        raise ToolError("Maven is needed to fetch Hadoop's jars, and there is no `mvn` in PATH", code="HD603", help=help)
    return found


def streaming_jar(lib: Path, of: Release) -> Path:
    return lib / f"hadoop-streaming-{of.streaming}.jar"


def _pom() -> Path:
    return resources.find("runtime", "hadoop", "jars", "pom.xml")


def _copy(of: Release, java: Java, maven: str, lib: Path) -> None:
    lib.mkdir(parents=True)
    versions = [f"-Dhadoop.version={of.version}", f"-Dstreaming.version={of.streaming}"]
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={lib}"]
    # `env`: Maven's script takes the Java of JAVA_HOME, and where it is not set guesses.
    argv = ["env", f"JAVA_HOME={java.home}", maven, "-B", "-C", "-ntp", "-q", "-f", str(_pom()), *goal, *versions]
    done = cc.run(argv, cwd=str(lib), timeout=_SECONDS)
    if done.returncode == 0 and streaming_jar(lib, of).is_file():
        return
    errors = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line][:_ERRORS]
    why = "\n".join(errors) or f"exit status {done.returncode}, and no {streaming_jar(lib, of).name}"
    raise ToolError(
        f"Maven cannot bring the jars of Hadoop {of.version}:\n{why}", code="HD604",
        help="they come from Maven Central, or from the mirror that ~/.m2/settings.xml names; needed once, then kept",
    )
