"""Runs the tests of the native runtime on a library built with AddressSanitizer and UndefinedBehaviorSanitizer.

    python -m tests.sanitized LIBRARY [PYTEST ARGUMENTS, TESTS]

Ordinary Python has no sanitizer in it, so libasan must be the first library of the process: a pytest of its own,
started with LD_PRELOAD. Not a test module.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from heterodoop.toolchain.native import sanitizer_preload

from .scheduling import SANITIZED


def main() -> None:
    library, *arguments = sys.argv[1:]
    places = [] if any(word.startswith("tests/") for word in arguments) else SANITIZED
    os.environ.update(sanitizer_preload(), HETERODOOP_NATIVE=str(Path(library).resolve()), HETERODOOP_SANITIZED="1")
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "--capture=sys", *arguments, *places])


if __name__ == "__main__":
    main()
