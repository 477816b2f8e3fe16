"""stdin, stdout and stderr of the command: open, whatever the caller left of them, and given up where they fail.

Not here: what is printed.
"""

from __future__ import annotations

import errno
import os
import sys

from ..errors import ToolError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def hold() -> None:
    """Open /dev/null in the place of each that is closed (`>&-`, some schedulers).

    Else the next file that is opened, a part file say, has its number, and gets what libraries and children print.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)


def give_up_stdout() -> None:
    """Nothing more is written there: Python would try once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def refused(error: OSError) -> ToolError | None:
    """The error to show where a file without a name, which stdout is, could not be written. None: another fault."""
    if error.filename is not None or error.errno not in _FULL:
        return None
    return ToolError(f"cannot write: {os.strerror(error.errno)}", code="HD519")
