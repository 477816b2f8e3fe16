"""Faults of our own, and compilers that fail on text of ours: they cost a program its kernel, never its filter.

Our tests see them all the same (`errors.strict`).
"""

from __future__ import annotations

import os
import traceback

from ..diag import Diagnostic
from ..errors import CompilerBug, HeteroDoopError, ToolError, strict
from ..manifest import Program, Reason
from ..source import Span
from ..toolchain import cc

COMPILER, INTERNAL, TOO_DEEP = "HD263", "HD264", "HD265"
_CODES = frozenset({COMPILER, INTERNAL})
_REPORT_HOST = "filters do its work; please report this, with the program"
_REPORT = "the job runs on the CPU as without a kernel; please report this, with the program"


def reason(error: Exception, place: Span) -> Reason:
    """What such a fault is in the manifest. Raises the error again where it is not ours, or `strict` says so."""
    if isinstance(error, (RecursionError, MemoryError)):
        return Reason(TOO_DEEP, "the program is too deeply nested, or too large, to be analysed", place)
    others = isinstance(error, (HeteroDoopError, OSError)) and not isinstance(error, CompilerBug)
    if others or strict():
        raise error
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    said = " ".join(str(error).split())[:300]
    return Reason(INTERNAL, f"HeteroDoop failed on it: {type(error).__name__}{': ' if said else ''}{said}{where}", place)


def refused_text(error: ToolError, tool: str, place: Span) -> Reason:
    """Why a compiler did not make a kernel, for a GPU or the host, of our text. Raises the error again where `strict`."""
    if strict():
        raise error
    said = cc.main_line(error.message)
    return Reason(COMPILER, f"{tool} did not make a kernel of the text that HeteroDoop made of it: {said}", place)


def reports(programs: tuple[Program, ...]) -> list[Diagnostic]:
    """A warning for each program that lost a kernel so."""
    return [
        Diagnostic("warning", reason.code, f"the {program.role} program has no {what}: {reason.message}", help=help)
        for program in programs
        for what, lost, help in (("kernel", program.gpu_refusals, _REPORT), ("host kernel", program.no_host, _REPORT_HOST))
        for reason in lost if reason.code in _CODES
    ]
