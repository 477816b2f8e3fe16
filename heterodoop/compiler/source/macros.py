"""What a macro of the program stands for where a directive is, as far as that can be told without a C compiler.

Most constants of directives are a macro that is a number. What else there is, the preprocessor is asked (`frontend`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .clean import PRAGMA
from .line_markers import PpLine
from .preprocess import TOKEN, is_macro

_MACRO = re.compile(r"#(?:define|undef) (?P<name>\w+)(?P<body> .*)?$")


def at_directives(lines: Iterable[PpLine], path: str) -> list[dict[str, str]]:
    """The macros of the user's without parameters, name -> body, at each directive of the file, in the order of these.

    lines  with the definitions left in. What stands before text of a system's header is left out: that may define it, too.
    """
    found: list[dict[str, str]] = []
    known: dict[str, str] = {}
    for line in lines:
        if line.system:
            known = {} if known and line.text.strip() else known
        elif is_macro(line):
            macro = _MACRO.match(line.text)
            known.pop(macro["name"] if macro else re.split(r"\W", line.text.partition(" ")[2])[0], None)
            if macro and macro["body"]:
                known[macro["name"]] = macro["body"].strip()
        elif "pop_macro" in line.text:
            known = {}
        elif line.file == path and PRAGMA.match(line.text):
            found.append(dict(known))
    return found


def number(text: str, macros: Mapping[str, str]) -> str | None:
    """A macro's expansion where it is numbers and operators only; None where it is not, or the text is no macro."""
    passed: set[str] = set()
    while text in macros and text not in passed:
        passed.add(text)
        text = macros[text]
    kinds = {match.lastgroup for match in TOKEN.finditer(text)}
    return " ".join(text.split()) if passed and kinds <= {"number", "punct"} else None
