"""The files that a user gives to filters by name: `--file PATH[#NAME]`. Not here: how they get to a working folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from .inputs import local_path


def parted(argument: str) -> tuple[str, str]:
    """(path, name in the working folder) of a --file; the name "" where none was given. A file's own name may have a #."""
    if "#" not in argument or os.path.exists(argument):
        return argument, ""
    path, _, name = argument.rpartition("#")
    return path, name


def shipped(arguments: Sequence[str]) -> list[tuple[str, Path]]:
    """(name in the working folder, absolute path) of `--file` arguments.

    Raises UsageError HD033: a file that is not there, a name with a slash, a name given twice.
    """
    files: dict[str, Path] = {}
    for argument in arguments:
        path, name = parted(argument)
        path = os.path.abspath(local_path(path)) if path else ""
        name = name or os.path.basename(path)
        if not path or not os.access(path, os.R_OK):
            raise UsageError(f"--file {argument!r}: there is no such file, or it cannot be read", code="HD033")
        if "/" in name or name in ("", ".", ".."):
            raise UsageError(f"--file {argument!r}: {name!r} is not a name of a file", code="HD033")
        if name in files:
            raise UsageError(f"--file {argument!r}: {name!r} is given twice", code="HD033", help="use PATH#NAME")
        files[name] = Path(path)
    return list(files.items())
