"""Programs of an app that are commands: what the manifest says of them, and their files in a bundle.

They are filters like any other, and nobody looks into them. Not here: what a command may be (`toolchain.commands`).
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..diag import Diagnostic
from ..manifest import Program, Reason, Role
from ..toolchain import commands
from .app import BuildOptions

CODE = "HD271"
_NO_HOST: dict[Role, tuple[Reason, ...]] = {
    "map": (Reason("HD266", "the mapper is a command"),), "combine": (), "reduce": (Reason("HD267", "it is a command"),),
}


def programs(options: BuildOptions) -> list[Program]:
    """The manifest's entries, in the order map, combine, reduce."""
    return [_program(role, words) for role, words in options.commands]


def _program(role: Role, words: tuple[str, ...]) -> Program:
    reason = Reason(CODE, f"it is a command ({shlex.join(words)}), and kernels are made of C")
    return Program(role, f"bin/{role}", (), None, (reason,), no_host=_NO_HOST[role], command=words)


def in_order(programs: Iterable[Program]) -> tuple[Program, ...]:
    roles: Sequence[Role] = ("map", "combine", "reduce")
    return tuple(sorted(programs, key=lambda program: roles.index(program.role)))


def carried(options: BuildOptions) -> tuple[str, ...]:
    """Where the bundle has the files that it carries."""
    return tuple(f"{commands.FOLDER}/{name}" for name, _ in options.carried)


def warnings(options: BuildOptions) -> list[Diagnostic]:
    """Of programs that this machine lacks: those that run the job may have them."""
    files = dict(options.carried)
    missing = {role: found for role, words in options.commands if (found := commands.absent(words, files))}
    return [
        Diagnostic("warning", commands.ABSENT, f"the {role} command needs {found}, which is not on this machine",
                   help="the machines that run the job need it")
        for role, found in missing.items()
    ]


def write(made: Path, options: BuildOptions) -> None:
    """Into the bundle that is being made, whose bin/ is there. Raises OSError."""
    for role, words in options.commands:
        _write_program(made / "bin" / role, commands.launcher(words, [name for name, _ in options.carried]))
    if options.carried:
        (made / commands.FOLDER).mkdir()
    for name, path in options.carried:
        shutil.copyfile(path, made / commands.FOLDER / name)
        (made / commands.FOLDER / name).chmod(0o755)  # as a NodeManager makes what it ships


def _write_program(path: Path, text: bytes) -> None:
    path.write_bytes(text)
    path.chmod(0o755)
