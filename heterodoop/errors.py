"""The kinds of error, and the exit code of each. Raise these; never print and exit.

Nothing else in the project is imported here. The texts behind the HDnnn codes are in `hdcodes`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

EXIT_OK = 0
EXIT_JOB_FAILED = 1
EXIT_USAGE = 2
EXIT_PROGRAM = 3
EXIT_LIMITATION = 4
EXIT_ENVIRONMENT = 5
EXIT_DEVICE = 6
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class HeteroDoopError(Exception):
    """Base of every error the product raises on purpose.

    message  one sentence for the user, no trailing period needed.
    code     HDnnn, or "" where no entry of the error index applies.
    help     what to do about it, or "".
    """

    exit_code = EXIT_JOB_FAILED
    label = "error"

    def __init__(self, message: str, *, code: str = "", help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.help = help

    @property
    def told(self) -> str:
        """What a user is shown, one line or two."""
        code = f"[{self.code}]" if self.code else ""
        help = f"\nhelp: {self.help}" if self.help else ""
        return f"heterodoop: {self.label}{code}: {self.message}{help}"


class UsageError(HeteroDoopError):
    """A command line, option, path or job setting that cannot be right."""

    exit_code = EXIT_USAGE


class UserError(HeteroDoopError):
    """Faults in the user's program, each with its place: every `diag.Diagnostic` of one pass, together."""

    exit_code = EXIT_PROGRAM

    def __init__(self, diagnostics: Sequence[Any]) -> None:
        super().__init__("; ".join(d.message for d in diagnostics) or "the program has errors")
        self.diagnostics: list[Any] = list(diagnostics)


class Limitation(HeteroDoopError):
    """Legal input that HeteroDoop cannot treat yet; says what to do instead."""

    exit_code = EXIT_LIMITATION


class ToolError(HeteroDoopError):
    """A program or library that HeteroDoop needs is missing or failed: compiler, native library, Java."""

    exit_code = EXIT_ENVIRONMENT


class DeviceError(HeteroDoopError):
    """A GPU, its driver or a kernel failed; the task runs again on the CPU."""

    exit_code = EXIT_DEVICE


class JobFailed(HeteroDoopError):
    """A task failed in all its attempts, or the output could not be committed."""

    exit_code = EXIT_JOB_FAILED


class Interrupted(HeteroDoopError):
    """The user stopped the command (SIGINT, SIGTERM, SIGHUP). A local job leaves nothing; one on a cluster goes on."""

    exit_code = EXIT_INTERRUPTED


class CompilerBug(HeteroDoopError):
    """Our own fault: an invariant does not hold, or an error that nobody raised on purpose. Keeps the traceback."""

    exit_code = EXIT_BUG
    label = "internal error"


def strict() -> bool:
    """Is a fault of our own to end the command, where it could cost the kernel only? Our tests set HETERODOOP_STRICT."""
    return os.environ.get("HETERODOOP_STRICT", "0") not in ("", "0")
