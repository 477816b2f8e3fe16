"""Runs the tests of the native runtime on a library built with AddressSanitizer and UndefinedBehaviorSanitizer.

    python tests/sanitized.py LIBRARY [PYTEST ARGUMENTS]

Ordinary Python has no sanitizer in it, so libasan must be the first library of the process: a pytest of its own,
started with LD_PRELOAD. Not a test module.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from heterodoop.build_native import sanitizer_preload

# What goes deepest into native code: its own tests, tasks on the emulated device, and the property test of whole jobs.
NATIVE_TESTS = (
    "tests/native", "tests/runtime/test_gpu_task.py", "tests/runtime/test_gpu_task_input.py",
    "tests/runtime/test_gpu_task_limits.py", "tests/engine/test_oracle.py",
)


def main() -> None:
    library, *arguments = sys.argv[1:]
    places = [place for place in NATIVE_TESTS if Path(place).exists()]
    os.environ.update(sanitizer_preload(), HETERODOOP_NATIVE=str(Path(library).resolve()), HETERODOOP_SANITIZED="1")
    argv = [sys.executable, "-m", "pytest", "-q", "--capture=sys", *(arguments or places)]
    os.execv(sys.executable, argv)


if __name__ == "__main__":
    main()
