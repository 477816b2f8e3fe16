"""What the machine refused, of which nobody below made a message: no fault of ours, so it is told without a traceback.

Not here: errors that are raised on purpose, and what only stdout can refuse (standard_files.py).
"""

from __future__ import annotations

import errno
import os

from ..errors import HeteroDoopError, ToolError

_OF_THE_MACHINE = frozenset({
    errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN,
    errno.EACCES, errno.EPERM, errno.EBUSY, errno.ETXTBSY, errno.ENOBUFS, errno.ESTALE, errno.ENODEV, errno.ELOOP,
})
_NO_THREAD = "can't start new thread"  # CPython's words, a RuntimeError


def by_the_machine(error: Exception) -> HeteroDoopError | None:
    """The error to show; None where the machine has nothing to do with it."""
    if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
        where = f"{os.fsdecode(error.filename)!r}: " if isinstance(error.filename, str | bytes) else ""
        return ToolError(f"{where}{os.strerror(error.errno)}", help="a limit, the memory or the disk of this machine")
    if isinstance(error, MemoryError):
        return ToolError("there is no memory left", help="fewer --cpu-slots need less")
    if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
        return ToolError("the system makes no further thread", help="ulimit -u, or the limit of the container, is too low")
    return None
