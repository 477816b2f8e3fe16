"""Drafts for calls of the library: another function, another form, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...manifest import Change
from .scene import Draft, Scene, drafts

_STATEMENT = r"(?:^|(?<=[;{{}})]))(\s*)(?:\(void\)\s*)?\b{name}\s*\([^;]*\)\s*;"
_UTC = {"localtime": "gmtime", "localtime_r": "gmtime_r", "mktime": "timegm"}
_UNDECLARED = re.compile(r"'(\w+)', not declared here \(write (?:#define (\w+) before )?#include <([\w./]+)>\)")


def other_numbers(scene: Scene) -> Iterator[Draft]:
    """Random numbers with a seed of the record, times of UTC, the time from before the loop."""
    name = _called(scene)
    if name in ("rand", "random", "lrand48"):
        seed = scene.in_loop("unsigned seed = 1;  /* make it of the record */")
        yield from drafts("the numbers may be others, made of each record",
                          seed, scene.replaced(rf"\b{name}\s*\(\s*\)", "rand_r(&seed)"))
    elif name in _UTC:
        yield from drafts("times are UTC (TZ is not set)", scene.replaced(rf"\b{name}\b", _UTC[name]))
    elif name == "time" and scene.directive:
        yield from drafts("one time will do for a task",
                          scene.before(scene.directive, "long started = time(NULL);"),
                          scene.replaced(r"\btime\s*\(\s*(?:NULL|0)\s*\)", "started"))


def no_locale(scene: Scene) -> Iterator[Draft]:
    yield from drafts("numbers and letters are those of the C locale", _without(scene, "setlocale"))


def needless(scene: Scene) -> Iterator[Draft]:
    """Memory of the line lives on; alloca's is as well the record's."""
    if _called(scene) == "free":
        yield from drafts("", _without(scene, "free"))
    elif _called(scene) == "alloca":
        yield from drafts("", scene.replaced(r"\balloca\b", "malloc"), *scene.header("stdlib.h", "malloc"))


def plain_memory(scene: Scene) -> Iterator[Draft]:
    yield from drafts("an address of 16 bytes will do",
                      scene.replaced(r"\baligned_alloc\s*\(\s*[^,()]+,\s*", "malloc("))


def literal_format(scene: Scene) -> Iterator[Draft]:
    """`printf(text)` prints what is meant only where the text has no %; a flush of what is read does nothing."""
    where = "the text holds no %"
    yield from drafts(where, scene.replaced(r"\bprintf\s*\(\s*(\w+)\s*\)", r'printf("%s", \1)'))
    yield from drafts(where, scene.replaced(r"\bfprintf\s*\(\s*(stdout|stderr)\s*,\s*(\w+)\s*\)", r'fprintf(\1, "%s", \2)'))
    yield from drafts("", _without(scene, "fflush"))


def message(scene: Scene) -> Iterator[Draft]:
    """perror() says what no kernel knows."""
    line = scene.line(scene.reason.span.line)
    made = re.sub(r'\bperror\s*\(\s*"((?:[^"\\]|\\.)*)"\s*\)', lambda m: f'fprintf(stderr, "{m[1]}\\n")', line, count=1)
    if made != line:
        yield from drafts("the message need not name the error", scene.change(scene.reason.span.line, made))


def appended(scene: Scene) -> Iterator[Draft]:
    """sprintf(s, "%s...", s, ...) writes behind what is there."""
    number = scene.reason.span.line
    pattern = r'\bsprintf\s*\(\s*(\w+)\s*,\s*"%s((?:[^"\\]|\\.)*)"\s*,\s*\1\s*(?=[,)])'
    made = re.sub(pattern, lambda m: f'sprintf({m[1]} + strlen({m[1]}), "{m[2]}"', scene.line(number), count=1)
    if made != scene.line(number):
        yield from drafts("", scene.change(number, made), *scene.header("string.h", "strlen"))


def declared(scene: Scene) -> Iterator[Draft]:
    """The header that declares a function, and the macro that makes it do so."""
    found = _UNDECLARED.search(scene.reason.message)
    if found is None:
        return
    macro, header = found[2], found[3]
    if macro:
        have = any(re.match(rf"\s*#\s*include\s*<{re.escape(header)}>", line) for line in scene.lines)
        more = "" if have else f"#include <{header}>\n"
        yield from drafts("", scene.change(1, f"#define {macro}\n{more}{scene.line(1)}"))
    else:
        yield from drafts("", *scene.header(header))


def no_header(scene: Scene) -> Iterator[Draft]:
    """An #include of which nothing is used."""
    number = scene.reason.span.line
    if re.match(r"\s*#\s*include\b", scene.line(number)):
        yield from drafts("", scene.change(number, ""))


def _called(scene: Scene) -> str:
    found = re.match(r"(?:the code \w+ the region calls )?(\w+)\(\)", scene.reason.message)
    return found[1] if found else ""


def _without(scene: Scene, name: str) -> Change | None:
    return scene.replaced(_STATEMENT.format(name=name), r"\1")
