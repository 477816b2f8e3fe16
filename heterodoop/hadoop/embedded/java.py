"""The Java that runs Hadoop: finding it, and its version.

Not here: a Java for building the plug-in (`toolchain.plugin`), options of each JVM (`daemons`).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import ToolError
from ...toolchain import cc

PACKAGE = "openjdk-17-jdk-headless"
INSTALL = f"install Java 17 (Debian, Ubuntu: apt install {PACKAGE}; where there is none: default-jdk-headless)"


@dataclass(frozen=True)
class Java:
    """`home` is what JAVA_HOME names, `version` the feature release: 8, 11, 17."""

    home: Path
    version: int

    @property
    def command(self) -> str:
        return str(self.home / "bin" / "java")


def find(environ: Mapping[str, str] = os.environ, *, oldest: int = 17, newest: int = 0) -> Java:
    """The Java of JAVA_HOME, else of PATH. `newest` 0: any.

    Raises ToolError HD601 where there is none, HD602 where it cannot be used: JAVA_HOME is wrong, it is too old or too new.
    A JAVA_HOME that is set is never replaced by another Java.
    """
    home = environ.get("JAVA_HOME", "")
    path = os.path.join(home, "bin", "java") if home else shutil.which("java", path=environ.get("PATH", os.defpath))
    if path is None:
        raise ToolError("Hadoop needs Java, and there is no JAVA_HOME and no `java` in PATH", code="HD601", help=INSTALL)
    if home and not os.access(path, os.X_OK):
        raise ToolError(f"JAVA_HOME={home} has no bin/java", code="HD602", help="correct JAVA_HOME, or unset it")
    version = _version(path)
    if version < oldest or newest and version > newest:
        wanted = f"Java {oldest} to {newest}" if newest else f"Java {oldest} or newer"
        help = f"{INSTALL} and set JAVA_HOME to it"
        raise ToolError(f"{path} is Java {version}; {wanted} is needed", code="HD602", help=help)
    return Java(Path(home).absolute() if home else Path(os.path.realpath(path)).parents[1], version)


def _version(path: str) -> int:
    done = cc.run([path, "-version"], timeout=60)
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    if done.returncode or not found:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise ToolError(f"{path} -version does not say a version: {said}", code="HD602", help=INSTALL)
    return int(found[1])
