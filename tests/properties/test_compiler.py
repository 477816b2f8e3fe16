"""Programs that were changed at random: errors with their places, refusals with their reasons, or an analysis; no crash."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop import explain, manifest
from heterodoop.compiler import spine
from heterodoop.compiler.app import BuildOptions
from heterodoop.errors import UserError
from heterodoop.hdcodes import CODES

REFUSED = "misspelt-clause-is-told-with-line-and-word"
CASES = Path(__file__).resolve().parent.parent / "cases"
SEEDS = {
    path.parent.name + path.stem: path.read_text() for path in sorted(CASES.glob("*/*.c")) if path.parent.name != REFUSED
}
TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_]\w*|\d[\w.]*|[-+*/%&|<>=!^]=|&&|\|\||<<|>>|\+\+|--|->|\S',
)
STATEMENTS = [
    "break;", "continue;", "return 0;", "exit(1);", "n = 0;", "line++;", "goto out;", "v += v;", 'printf("x");',
    "getchar();",
    "static int s; s++;", "{ int k = 3; v = k; }", "k[v] = 0;", "if (v) v = 1;", "while (v) v--;", "fflush(stdout);",
]


def mutate(text: str, draw: st.DrawFn) -> str:
    """One small change: a line goes, doubles, moves or gets company; or a token becomes another of the program's."""
    lines = text.split("\n")
    at = draw(st.integers(0, len(lines) - 1))
    match draw(st.sampled_from(["remove", "double", "swap", "add", "guard", "token", "token", "token"])):
        case "remove":
            del lines[at]
        case "double":
            lines.insert(at, lines[at])
        case "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        case "add":
            lines.insert(at, draw(st.sampled_from(STATEMENTS)))
        case "guard":
            lines[at] = f"if ({draw(st.sampled_from(['n > 2', '0', '1', 'v', 'line']))}) {{ {lines[at]} }}"
        case _:
            tokens = list(TOKEN.finditer(text))
            old, new = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
            return text[: old.start()] + new.group() + text[old.end():]
    return "\n".join(lines)


@st.composite
def programs(draw: st.DrawFn) -> str:
    text = SEEDS[draw(st.sampled_from(sorted(SEEDS)))]
    for _ in range(draw(st.integers(1, 3))):
        text = mutate(text, draw)
    return text


def check(text: str, folder: Path) -> str:
    """Analyse a program; returns what came of it."""
    (folder / "map.c").write_text(text)
    options = BuildOptions.make([str(folder / "map.c")], verify=True)
    try:
        result = spine.analyse(options)
    except UserError as error:
        assert error.diagnostics
        for diagnostic in error.diagnostics:
            assert diagnostic.code in CODES and diagnostic.message
        return "errors"
    (program,) = result.manifest.programs
    for refusal in program.gpu_refusals:
        assert refusal.code in CODES and refusal.message
    assert manifest.from_json(result.manifest.to_json()) == result.manifest
    assert explain.explain_text(result.manifest) and explain.explain_json(result.manifest)
    for stage in ("directives", "ir", "uses"):
        assert isinstance(spine.STAGES[stage][1](result.programs[0]), str)
    return "refused" if program.gpu_refusals else "analysed"


@given(text=programs())
@settings(max_examples=60)
def test_a_changed_program_never_ends_the_compiler(text: str, tmp_path: Path) -> None:
    check(text, tmp_path)

