"""What the `heterodoop` command and `python -m heterodoop` start."""

from __future__ import annotations

import gc

from .cli import main

# Objects that are made before Python looks for unreachable ones: a run makes a few thousand, and keeps most of them.
_COLLECT_EVERY = 20_000


def start() -> None:
    """Run the command line in a process that ends with it."""
    gc.set_threshold(_COLLECT_EVERY)
    try:
        main()
    finally:
        gc.freeze()  # the interpreter's last collection would visit every module to free memory that the process gives back


if __name__ == "__main__":
    start()
