"""Drafts for types: of conversions and their values, of variables and members."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .scene import MOST_LINES, Draft, Scene, drafts

_PRINTED = {
    "char": "%d", "signed char": "%d", "unsigned char": "%d", "short": "%d", "unsigned short": "%d", "int": "%d",
    "unsigned int": "%u", "long": "%ld", "unsigned long": "%lu", "long long": "%lld", "unsigned long long": "%llu",
    "float": "%f", "double": "%f", "char *": "%s",
}
_SCANNED = {
    "short *": "%hd", "unsigned short *": "%hu", "int *": "%d", "unsigned int *": "%u", "long *": "%ld",
    "unsigned long *": "%lu", "long long *": "%lld", "unsigned long long *": "%llu", "float *": "%f", "double *": "%lf",
    "signed char *": "%hhd", "unsigned char *": "%hhu",
}


def printed(scene: Scene) -> Iterator[Draft]:
    yield from _conversion(scene, r"the conversion (\S+) is given a value of type '([^']+)'", _PRINTED)


def scanned(scene: Scene) -> Iterator[Draft]:
    yield from _conversion(scene, r"conversion '?(%[^' ]+)'? is given a target of type '([^']+)'", _SCANNED)


def _conversion(scene: Scene, said: str, forms: dict[str, str]) -> Iterator[Draft]:
    """The conversion of the value's type in the place of the one that is there, with its flags and width."""
    found = re.search(said, scene.reason.message)
    form = forms.get(found[2]) if found else None
    if found is None or form is None:
        return
    old = found[1].strip("'")
    kept = re.match(r"%[-+ #0-9.*]*", old)
    new = (kept[0] if kept else "%") + form[1:]
    line = scene.line(scene.reason.span.line)
    for place in re.finditer(re.escape(old), line):
        made = line[:place.start()] + new + line[place.end():]
        yield from drafts("", scene.change(scene.reason.span.line, made))


def shorter(scene: Scene) -> Iterator[Draft]:
    """`double` for `long double`, on all lines that have it."""
    if "long double" in scene.reason.message:
        yield from drafts("the digits of double are enough", *scene.everywhere(r"\blong\s+double\b", "double"))
    if "__int128" in scene.reason.message:
        yield from drafts("64 bits are enough", *scene.everywhere(r"\b__int128\b", "long long"))


def whole_member(scene: Scene) -> Iterator[Draft]:
    """Members of their own in the place of bit-fields."""
    if "bit-field" in scene.reason.message:
        fields = scene.everywhere(r"\b(\w+)\s*:\s*\d+(?=\s*[;,])", r"\1")
        yield from drafts("the members hold no more than their bits",
                          *(one for one in fields if not re.search(r"\?|\bcase\b|\bdefault\b", one.old)))


def plain_layout(scene: Scene) -> Iterator[Draft]:
    """A struct without packing, where nobody looks at its bytes."""
    where = "the bytes of the struct are not read or written as such"
    packs = [n for n, line in enumerate(scene.lines, 1) if re.match(r"\s*#\s*pragma\s+pack\b", line)]
    if packs and len(packs) <= MOST_LINES:
        yield from drafts(where, *(scene.change(n, "") for n in packs))
    yield from drafts(where, scene.replaced(r"\s*__attribute__\s*\(\(\s*(?:__)?packed(?:__)?\s*\)\)", ""))


def array_itself(scene: Scene) -> Iterator[Draft]:
    """An array's address is its first element's."""
    found = re.match(r"'(\w+)' is an array of variable length", scene.reason.message)
    if found:
        yield from drafts("", *scene.everywhere(rf"&\s*({found[1]})\b(?!\s*\[)", r"\1"))


def bytes_pointer(scene: Scene) -> Iterator[Draft]:
    """A pointer to char counts in bytes; at NULL a program is meant to end."""
    if "void pointer" in scene.reason.message:
        names = re.findall(r"\b(\w+)\s*(?:\+=|-=|\+\+|--)|(?:\+\+|--)\s*(\w+)", scene.code[scene.reason.span.line - 1])
        for name in [a or b for a, b in names]:
            for number in range(scene.reason.span.line, 0, -1):
                if re.search(rf"\bvoid\s*\*\s*{name}\b", scene.code[number - 1]):
                    yield from drafts("", scene.replaced(rf"\bvoid(\s*\*\s*{name}\b)", r"char\1", number))
                    break
    yield from drafts("", scene.replaced(r"\*\s*\(\s*[\w ]+\*\s*\)\s*(?:0|NULL)\s*=[^;]*;", "abort();"),
                      *scene.header("stdlib.h", "abort"))


def initialised(scene: Scene) -> Iterator[Draft]:
    """A variable has a value where it is declared."""
    found = re.match(r"'(\w+)', in a function that calls itself, may be read", scene.reason.message)
    if found:
        yield from drafts("", scene.replaced(rf"\b({found[1]})(\s*\[[^=;,]*\])(?=\s*[;,])", r"\1\2 = {0}"))
        yield from drafts("", scene.replaced(rf"\b({found[1]})(?=\s*[;,])", r"\1 = 0"))
