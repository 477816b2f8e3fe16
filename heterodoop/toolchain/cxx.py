"""The C++ compiler, for what users' kernels become and for their C++: $CXX (words allowed), else g++.

Not here: what is compiled.
"""

from __future__ import annotations

import os
import shlex
import shutil

from ..errors import ToolError
from . import compiler_words


def find_cxx() -> list[str]:
    """The start of a command, for text of ours. Raises as `users`."""
    return compiler_words.own(_command())


def users() -> list[str]:
    """The same for the user's own C++: with every word of $CXX, and $CXXFLAGS.

    Raises ToolError HD510 where there is none; a $CXX that does not exist is never replaced.
    """
    return [*_command(), *shlex.split(os.environ.get("CXXFLAGS", ""))]


def _command() -> list[str]:
    words = shlex.split(os.environ.get("CXX", "")) or ["g++"]
    path = shutil.which(words[0])
    if path is None:
        raise ToolError(
            f"C++ compiler not found: {words[0]}", code="HD510", help="install g++ (Debian: apt install g++), or set CXX",
        )
    return [path, *words[1:]]
