"""In which language a file of the user's is: its name says so. Imports little, since `run` asks it before all else.

Not here: which compiler the language has (`cc`, `cxx`).
"""

from __future__ import annotations

import os
from pathlib import Path

from ..manifest import Role

CPLUSPLUS = (".cc", ".cpp", ".cxx")
_LINKED = (".o", ".a", ".s", ".S", ".so")


def is_cplusplus(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix in CPLUSPLUS


def is_source(path: str | os.PathLike[str]) -> bool:
    """C or C++; names without a known suffix are C (a file may be called `map` or `x;y`)."""
    return Path(path).suffix not in _LINKED


def word(path: str | os.PathLike[str]) -> str:
    """The language as -x names it."""
    return "none" if not is_source(path) else "c++" if is_cplusplus(path) else "c"


def programs(folder: Path, role: Role) -> list[Path]:
    """The files of an app's folder that could be its program for the role: one, none, or too many."""
    return [path for suffix in (".c", *CPLUSPLUS) if (path := folder / f"{role}{suffix}").exists()]
