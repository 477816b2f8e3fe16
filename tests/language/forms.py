"""Forms of C, a function each, in programs that are compiled and run. Not a test module.

forms.c   what runs everywhere. left.c: what keeps a program on the CPU, with a reason at its place.
unread/   what keeps the whole of a program from being analysed.
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
FORMS, LEFT, UNREAD = HERE / "forms.c", HERE / "left.c", HERE / "unread"
INPUT = HERE / "input.txt"
_CALL = re.compile(r"^ {8}(\w+)\(line\);$", re.MULTILINE)


def functions(path: Path) -> dict[str, range]:
    """The functions that a program's loop calls -> the lines of each, with what stands before it for its sake."""
    text = path.read_text()
    lines, found, start = text.splitlines(), {}, 1
    for name in _CALL.findall(text):
        head = re.compile(rf"static .*\b{name}\(const char \*(restrict )?line\)")
        at = next(n for n, line in enumerate(lines, 1) if head.match(line))
        end = at if lines[at - 1].endswith("}") else next(n for n, line in enumerate(lines, 1) if n > at and line == "}")
        found[name], start = range(start, end + 1), end + 1
    return found


def everywhere() -> set[str]:
    return set(functions(FORMS))


def on_the_cpu() -> set[str]:
    return set(functions(LEFT)) | {path.stem for path in UNREAD.glob("*.c")}
