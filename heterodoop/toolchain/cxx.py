"""The C++ compiler for what users' kernels become: $CXX (words allowed), else g++. Not here: what is compiled."""

from __future__ import annotations

import os
import shlex
import shutil

from ..errors import ToolError
from . import compiler_words


def find_cxx() -> list[str]:
    """The start of a command. Raises ToolError HD510 where there is none; a $CXX that does not exist is never replaced."""
    words = shlex.split(os.environ.get("CXX", "")) or ["g++"]
    path = shutil.which(words[0])
    if path is None:
        raise ToolError(
            f"C++ compiler not found: {words[0]}", code="HD510", help="install g++ (Debian: apt install g++), or set CXX",
        )
    return compiler_words.own([path, *words[1:]])
