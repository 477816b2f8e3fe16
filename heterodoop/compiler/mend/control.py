"""Drafts for what a record leaves behind it, and for the loop that reads the records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .scene import Draft, Scene, drafts, indent

_SKIPS = "the records behind it may be taken, too"
_CONVERSION = re.compile(r"%(?![%*])[-+ #0-9.']*[hlLqjzt]*(?:\[\^?\]?[^]]*\]|[a-zA-Z])")
_SCANF = re.compile(r'(?P<call>\bscanf\s*\(\s*"(?P<format>(?:[^"\\]|\\.)*)"[^;]*?\))'
                    r"\s*(?P<test>!=\s*EOF\b|!=\s*-\s*1\b|>=\s*1\b|>\s*0\b|==\s*1\b)")
_OPEN = r"\b(?P<loop>while|for)\s*\(\s*!\s*feof\s*\(\s*stdin\s*\)\s*\)"
_READS = re.compile(r"^\s*(?:\(void\)\s*)?(?P<read>(?:\w+\s*=\s*)?(?P<name>fgets|getline|scanf)\s*\(.*\))\s*;\s*$")


def directive(scene: Scene) -> Iterator[Draft]:
    """The line that `suggest` proposes."""
    found = re.search(r"#pragma mapreduce mapper(?: \w+\([^)]*\))+", scene.reason.message)
    if found and scene.reason.span.line:
        yield from drafts("", scene.before(scene.reason.span.line, found[0]))


def break_(scene: Scene) -> Iterator[Draft]:
    yield from drafts(_SKIPS, scene.replaced(r"\bbreak\b", "continue"))


def return_(scene: Scene) -> Iterator[Draft]:
    """A status of a failure fails the task in both forms; main's other ones end its input early."""
    failure = scene.replaced(r"\breturn\s*\(?\s*(-?\s*[1-9]\d*|EXIT_FAILURE)\s*\)?\s*;", r"exit(\1);")
    if failure is not None:
        yield from drafts("", failure, *scene.header("stdlib.h", "exit"))
    else:
        yield from drafts(_SKIPS, scene.replaced(r"\breturn\b[^;]*;", "continue;"))


def exit_(scene: Scene) -> Iterator[Draft]:
    call = r"\b_?[eE]xit\s*\([^;]*\)"
    if scene.replaced(r"\b_?[eE]xit\s*\(\s*(?:0|EXIT_SUCCESS)\s*\)", "") is None:
        yield from drafts("any status of a failure will do", scene.replaced(call, "exit(1)"))
    yield from drafts(_SKIPS, scene.replaced(call, "continue"))


def all_fields(scene: Scene) -> Iterator[Draft]:
    """`scanf(...) != EOF` goes on with what is left of the last pair; the number of conversions does not."""
    for number in _near(scene):
        text = scene.line(number)
        found = _SCANF.search(text)
        if found:
            wanted = len(_CONVERSION.findall(found["format"]))
            new = f"{text[:found.start('test')]}== {wanted}{text[found.end('test'):]}"
            yield from drafts("each record has all its fields", scene.change(number, new))


def _near(scene: Scene) -> Iterator[int]:
    """The refusal's line, then those from the directive on, then all."""
    line = scene.reason.span.line
    yield from dict.fromkeys([*([line] if line else []), *range(max(1, scene.directive), len(scene.lines) + 1)])


def end_of_input(scene: Scene) -> Iterator[Draft]:
    """`while (!feof(stdin)) { fgets(...); ...}` reads once too often: the read becomes the loop's condition."""
    loop = next((n for n in range(1, len(scene.lines) + 1) if re.search(_OPEN, scene.code[n - 1])), 0)
    reads = next((n for n in range(loop + 1, len(scene.lines) + 1) if _READS.match(scene.line(n))), 0) if loop else 0
    found = _READS.match(scene.line(reads)) if reads else None
    if found is None:
        return
    read = found["read"]
    if found["name"] == "fgets":
        test = f"{read} != NULL"
    elif found["name"] == "getline":
        test = f"({read}) != -1" if "=" in read.partition("(")[0] else f"{read} != -1"
    else:
        test = f"{read} == {len(_CONVERSION.findall(read))}"
    head = re.sub(_OPEN, lambda _: f"while ({test})", scene.line(loop), count=1)
    yield from drafts("the last record need not be done twice", scene.change(loop, head), scene.change(reads, ""))


def fresh(scene: Scene) -> Iterator[Draft]:
    """A variable that is the record's own gets its value where the record begins."""
    found = re.match(r"'(\w+)' is read .* before it is written in the same record", scene.reason.message)
    kind = scene.types.get(found[1], "") if found else ""
    if found is None or not kind or "no total of what records add" in scene.reason.message:
        return
    name, before = found[1], "\n".join(scene.code[: scene.directive])
    if re.search(rf"\b{name}\s*=\s*(?:[1-9]|true\b)", before):
        return  # the first record differs from all others, as of a flag for a header: 0 would be another program
    whole = "[" in kind or kind.startswith(("struct ", "union "))
    text = f"{name} = {'NULL' if '*' in kind else '0'};"
    if whole:
        text = f"memset({'' if '[' in kind else '&'}{name}, 0, sizeof {name});"
    yield from drafts(f"'{name}' is meant to begin anew in each record", scene.in_loop(text),
                      *(scene.header("string.h", "memset") if whole else ()))


def newline_before(scene: Scene) -> Iterator[Draft]:
    """The byte before a line's first one is the newline of the line before it; before the first there is none."""
    found = re.match(r"'(\w+)' is read .* before it is written in the same record", scene.reason.message)
    if found and scene.types.get(found[1]) in ("int", "char"):
        for number in range(scene.directive, 0, -1):
            start = rf"\b{found[1]}(\s*=\s*)(?:0|'_*'|EOF)(?=\s*[;,])"
            if re.search(start, scene.code[number - 1]):
                yield from drafts("the first line begins as all others do",
                                  scene.replaced(start, rf"{found[1]}\1'\\n'", number))
                return


def tested(scene: Scene) -> Iterator[Draft]:
    """strtok(NULL) goes on with the text of another record."""
    found = re.search(r"\bstrtok\s*\(\s*(\w+)\s*,", scene.code[scene.reason.span.line - 1])
    if "test the pointer first" in scene.reason.message and found and found[1] != "NULL":
        yield from drafts("", scene.before(scene.reason.span.line, f"if ({found[1]} == NULL) continue;"))


def given(scene: Scene) -> Iterator[Draft]:
    """A variable that the code behind the region uses gets a value of its own there."""
    found = re.search(r"uses '(\w+)', which the region writes", scene.reason.message)
    kind = scene.types.get(found[1], "") if found else ""
    if found and kind and "[" not in kind and not kind.startswith(("struct ", "union ")):
        text = f"{found[1]} = {'NULL' if '*' in kind else '0'};"
        yield from drafts("what the last record left in it is of no use",
                          scene.before(scene.reason.span.line, text))


def block(scene: Scene) -> Iterator[Draft]:
    """A combiner's last pair belongs into the region: brackets around the loop and what prints it."""
    last = scene.reason.span.line
    if "put it in the region's block" not in scene.reason.message or not 0 < scene.directive < last:
        return
    ends = next((n for n in range(last, len(scene.code) + 1) if scene.code[n - 1].rstrip().endswith((";", "}"))), 0)
    if ends:
        space = indent(scene.line(scene.directive + 1))
        yield from drafts("", scene.before(scene.directive + 1, "{"), scene.change(ends, f"{scene.line(ends)}\n{space}}}"))


def returned(scene: Scene) -> Iterator[Draft]:
    """A value behind a function's last statement."""
    depth = 0
    for number in range(scene.reason.span.line, len(scene.code) + 1):
        for place in re.finditer(r"[{}]", scene.code[number - 1]):
            depth += 1 if place[0] == "{" else -1
            if depth == 0:
                text, at = scene.line(number), place.start()
                if text[:at].strip():
                    new = f"{text[:at].rstrip()} return 0; {text[at:]}"
                else:
                    new = f"{text[:at]}    return 0;\n{text}"
                yield from drafts("nobody uses what it gives back there", scene.change(number, new))
                return
