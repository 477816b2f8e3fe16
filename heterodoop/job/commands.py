"""What a bundle's commands ask of the machine that runs a job."""

from __future__ import annotations

from pathlib import Path

from ..errors import ToolError
from ..manifest import Manifest
from ..toolchain import commands


def check_here(found: Manifest, bundle: Path, reducers: int) -> None:
    """Raises ToolError HD008 where this machine lacks the program of a command that the job has use for."""
    carried = {Path(inside).name: bundle / inside for inside in found.carried}
    for program in found.programs:
        if not program.command or (program.role != "map" and reducers == 0):
            continue
        missing = commands.absent(program.command, carried)
        if missing:
            raise ToolError(f"the {program.role} command of {bundle.name} needs {missing}, which is not on this machine",
                            code=commands.ABSENT, help="install it, or put its folder into PATH")
