"""Commands as programs of a bundle: words that a user gave, made a program that tasks start as any filter.

The bundle has a launcher in each one's place, a script for /bin/sh, so that `run`, Hadoop Streaming and the plug-in start
it by one path, without knowing commands. It links the files that the bundle carries into the task's working folder, unless
the job has one of that name. They lie together in the bundle, as Python's import wants it; on a node, files that are shipped
by themselves have folders of their own. Not here: the bundle (`compiler.commanded`).
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import UsageError
from ..regular import open_regular
from ..values import dataclass

FOLDER = "files"  # of a bundle
CODE = "HD007"
ABSENT = "HD008"
# What a shell would make something of. Nobody does here, as under Hadoop Streaming.
_SHELL = frozenset("| || & && ; < > >> 2> 2>&1 |&".split())
_LONGEST_LINE = 256  # of a script's first line, as Linux reads it


@dataclass(frozen=True)
class Command:
    """words: of the command; files: (name in the working folder, where it is now) of those that the words name."""

    words: tuple[str, ...]
    files: tuple[tuple[str, Path], ...] = ()


def parse(option: str, text: str, given: Mapping[str, Path]) -> Command:
    """The command of an option, its words as a shell quotes them.

    A word that is the relative path of a file here stands for that file's name in a working folder: the file is carried.

    given  the files that are carried by name (--file).
    Raises UsageError HD007: no words, quotes that do not end, a shell's operator, two files of one name, a program in a
    folder that is not there, or a file that nothing can start.
    """
    words = _words(option, text)
    files: dict[str, Path] = {}
    for number, word in enumerate(words):
        if word.removeprefix("./") in given or not _is_here(word, program=number == 0):
            continue
        name = words[number] = os.path.basename(word)
        if name in given or files.setdefault(name, Path(word)) != Path(word):
            raise UsageError(f"{option} {text!r}: two files would be {name!r} in the working folder", code=CODE,
                             help="name one of them otherwise: --file PATH#NAME")
    program = words[0].removeprefix("./")
    if program in files or program in given:
        words[0] = f"./{program}"
        _check_starts(option, text, {**given, **files}[program])
    elif "/" in words[0] and not words[0].startswith("/"):
        raise UsageError(f"{option} {text!r}: there is no file {words[0]}", code=CODE,
                         help="name a file that is here, or a program of the machines that run the job")
    return Command(tuple(words), tuple(files.items()))


def _words(option: str, text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{option} {text!r}: {error}", code=CODE) from None
    if not words or not words[0]:
        raise UsageError(f"{option} {text!r} names no program", code=CODE, help=f"{option} 'python3 map.py'")
    for word in words:
        if word in _SHELL:
            raise UsageError(f"{option} {text!r}: no shell reads a command, {word} would be an argument", code=CODE,
                             help=f"{option} \"sh -c '...'\"")
    return words


def _is_here(word: str, *, program: bool) -> bool:
    """Does the word name a file of this folder? A program's name alone is first one of PATH, as for a shell."""
    if word.startswith("/") or not os.path.isfile(word):
        return False
    return not program or "/" in word or shutil.which(word) is None


def _check_starts(option: str, text: str, program: Path) -> None:
    try:
        with open_regular(program) as file:
            begin = file.read(4)
    except OSError as error:
        raise UsageError(f"{option} {text!r}: {program}: {error.strerror}", code=CODE) from None
    if not begin.startswith((b"#!", b"\x7fELF")):
        raise UsageError(f"{option} {text!r}: {program.name} is no program, and has no line #! that names one", code=CODE,
                         help=f"name its interpreter: {option} 'python3 {program.name}'")


_LINKS = """\
case $0 in /*) files=${{0%/*}}/../{folder} ;; *) files=$PWD/${{0%/*}}/../{folder} ;; esac
ln -s {names} . 2> /dev/null
"""
_LAUNCHER = """\
#!/bin/sh
{links}command -v {program} > /dev/null || {{ echo {said} >&2; exit 127; }}
export PYTHONDONTWRITEBYTECODE=1 # into the bundle
exec {words}
"""


def launcher(words: Sequence[str], carried: Sequence[str]) -> bytes:
    """The program that starts a command in a task's working folder. carried: names of files."""
    links = _LINKS.format(folder=FOLDER, names=" ".join(f'"$files"/{shlex.quote(name)}' for name in carried))
    said = f"heterodoop: {ABSENT}: there is no program {words[0]} on this machine"
    return os.fsencode(_LAUNCHER.format(
        links=links if carried else "", program=shlex.quote(words[0]), said=shlex.quote(said), words=shlex.join(words)))


def absent(words: Sequence[str], files: Mapping[str, Path]) -> str:
    """The program that this machine lacks for a command, or for the script that it is; "" where nothing is missing.

    files  what a working folder has.
    """
    script = files.get(words[0].removeprefix("./"))
    program = _interpreter(script) if script is not None else words[0]
    return program if program and shutil.which(program) is None else ""


def _interpreter(script: Path) -> str:
    """The program that a script names in its first line; "" for what is no script, or cannot be read."""
    try:
        with open_regular(script) as file:
            line = file.readline(_LONGEST_LINE)
    except OSError:
        return ""
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env" and len(words) > 1:
        return next((word for word in words[1:] if not word.startswith("-") and "=" not in word), words[0])
    return words[0] if words else ""
