"""The only module that knows where templates/, runtime/ and the native library lie: in an installation or a checkout."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import ToolError

PACKAGE = Path(__file__).resolve().parent
BUILD_NATIVE = "python -m heterodoop.toolchain.native"
NATIVE_LIBRARY = PACKAGE / "_native" / "libhd_host.so"


def find(kind: str, *parts: str) -> Path:
    """Path of a data file or folder; `kind` is "runtime" or "templates".

    Looks in the mapped package first (pip install .), then beside the package (pip install -e ., a bare checkout).
    Raises ToolError where neither has it.
    """
    for root in (PACKAGE / f"_{kind}", PACKAGE.parent / kind):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise ToolError(
        f"{kind}/{'/'.join(parts)} is missing from this installation",
        code="HD501", help="install HeteroDoop again (pip install .)",
    )


def native_library() -> Path:
    """Path of the native runtime's library; HETERODOOP_NATIVE names another one (the tests' sanitizer build).

    Raises ToolError HD511 where there is none: the installation was made without g++.
    """
    path = Path(os.environ.get("HETERODOOP_NATIVE") or NATIVE_LIBRARY)
    if path.is_file():
        return path
    raise ToolError(
        f"the native runtime is not built: {path} is missing",
        code="HD511", help=f"install g++ (Debian: apt install g++) and run: {BUILD_NATIVE}",
    )
