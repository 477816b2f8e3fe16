"""What `heterodoop doctor` says of one part of a machine. Not here: looking at any (`doctor`, `doctor_hadoop`)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Literal, NamedTuple

from ..errors import HeteroDoopError, ToolError
from ..toolchain import cc


class Check(NamedTuple):
    """One part of the machine. `name` is for people; `state`: "no" what is missing, "none" what need not be there."""

    name: str
    state: Literal["yes", "no", "none"]
    text: str
    help: str = ""


def tried(name: str, look: Callable[[], str]) -> Check:
    """What `look` says, or the error that it raises."""
    try:
        return Check(name, "yes", look())
    except HeteroDoopError as error:
        return Check(name, "no", error.message, error.help)


def program(name: str, command: str, home: str, question: str, help: str) -> Check:
    """A program that need not be there: of the folder that a variable names, else from PATH; and what it says it is."""
    folder = os.environ.get(home)
    path = os.path.join(folder, "bin", command) if folder else shutil.which(command)
    if not path:
        return Check(name, "none", f"no {home}, and no `{command}` in PATH", help)
    try:
        done = cc.run([path, question], timeout=60)
    except ToolError as error:
        return Check(name, "no", error.message, f"correct {home}" if folder else "")
    said = (done.stdout.strip() or done.stderr.strip()).splitlines() or ["it says nothing"]
    if done.returncode:
        return Check(name, "no", f"{path} {question} fails: {said[-1]}")
    return Check(name, "yes", f"{path}: {' '.join(said[0].split())}")
