r"""Which files in HDFS an input names, with `*`, `?`, `[a-z]`, `[^a]`, `{a,b}` and `\x` as Hadoop's GlobPattern has them.

Only to know them and their times: a job finds its input itself. Not here: alternatives in braces that hold a slash.
"""

from __future__ import annotations

import posixpath
import re

from ...storage.webhdfs import FileStatus, Namespace

_IN_CLASS, _ESCAPED = re.compile(r"([\[&~|])"), r"\\\1"  # what Python reserves for itself in [ ]
_MAGIC = re.compile(r"[*?[{\\]")


def files(space: Namespace, path: str) -> list[FileStatus]:
    """The visible files behind an absolute path or pattern, of folders those in them; [] where there are none.

    Raises as `Namespace`.
    """
    named = space.status(path)
    found = []
    for entry in [named] if named else _matches(space, path):
        found += space.list(entry.name) if entry.folder else [entry]
    return [entry for entry in found if not entry.folder and _visible(entry)]


def _matches(space: Namespace, pattern: str) -> list[FileStatus]:
    """Level by level; a folder is listed only where a pattern needs it."""
    root = space.status("/") if _MAGIC.search(pattern) else None
    found = [root] if root else []
    for word in pattern.strip("/").split("/"):
        below: list[FileStatus] = []
        for folder in (entry for entry in found if entry.folder):
            below += _below(space, folder.name, word)
        found = below
    return found


def _below(space: Namespace, folder: str, word: str) -> list[FileStatus]:
    if not _MAGIC.search(word):
        entry = space.status(posixpath.join(folder, word))
        return [entry] if entry else []
    try:
        fits = re.compile(_regex(word), re.DOTALL)
    except re.error:  # Hadoop will say so
        return []
    return [entry for entry in space.list(folder) if fits.fullmatch(posixpath.basename(entry.name))]


def _regex(word: str) -> str:
    text, depth, position = "", 0, 0
    while position < len(word):
        letter = word[position]
        if letter == "\\":
            position += 1
            text += re.escape(word[position : position + 1])
        elif letter == "[" and (match := re.match(r"\[(\^?)((?:\\.|[^\]\\])+)\]", word[position:])):
            text += f"[{match[1]}{_IN_CLASS.sub(_ESCAPED, match[2])}]"
            position += match.end() - 1
        elif letter in "*?":
            text += ".*" if letter == "*" else "."
        elif letter == "{" or (depth and letter in ",}"):
            depth += {"{": 1, ",": 0, "}": -1}[letter]
            text += {"{": "(?:", ",": "|", "}": ")"}[letter]
        else:
            text += re.escape(letter)
        position += 1
    return text


def _visible(entry: FileStatus) -> bool:
    return posixpath.basename(entry.name)[:1] not in ("_", ".")
