"""What is told of a refusal helps: each small change, made and compiled again, ends it, and every code has a remedy."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heterodoop.compiler import spine, trials
from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.mend.table import DRAFTS
from heterodoop.compiler.source.preprocess import CcRuns
from heterodoop.hdcodes import CODES
from heterodoop.hdcodes.entry import NOTHING
from heterodoop.hdcodes.remedies import REMEDIES, remedy
from heterodoop.manifest import Program, Role

from ...support import ROOT
from ..regions import _PREPROCESSOR, PRELUDE, mapper, preprocessed
from .refused import MENDED, PRINT

NULL = "#define NULL ((void *)0)\n"
REFUSALS = {  # those of a program; HD211 is an error of it
    code for code in CODES if "HD201" <= code <= "HD272" and code != "HD211" or "HD303" <= code <= "HD309"
    or code in ("HD330", "HD690")}


MAP = (ROOT / "apps" / "wordcount" / "map.c").read_text()
SCANF = """#include <stdio.h>
#include <string.h>
int main(void)
{
    char word[32], prev[32] = "";
    int val, count = 0;
#pragma mapreduce combiner key(prev) value(count) keyin(word) valuein(val) keylength(32) firstprivate(prev, count)
    {
        while (scanf("%31s %d", word, &val) != EOF) {
            if (strcmp(word, prev) == 0) {
                count += val;
            } else {
                if (prev[0])
                    printf("%s\\t%d\\n", prev, count);
                strcpy(prev, word);
                count = val;
            }
        }
        if (prev[0])
            printf("%s\\t%d\\n", prev, count);
    }
    return 0;
}
"""
# Of whole files: code -> the program's role, its text, what its change says.
ELSEWHERE: dict[str, tuple[Role, str, str]] = {
    "HD202": ("map", re.sub(r"#pragma mapreduce.*\n.*\n", "", MAP), "#pragma mapreduce mapper key(word) value(one)"),
    "HD210": ("map", (ROOT / "tests" / "taken" / "programs" / "byte_before.c").read_text(), "before = '\\n'"),
    "HD304": ("map", MAP.replace("int main", "#pragma pack(1)\nstruct p { char c; int i; };\nint main"), ""),
    "HD305": ("map", "#include <spawn.h>\n" + MAP, ""),
    "HD330": ("map", MAP.replace("#include <stdlib.h>\n", ""), "#include <stdlib.h>"),
    "HD266": ("combine", SCANF, "== 2"),
}


def needed(text: str) -> str:
    """The declarations of the prelude whose names the program has: parsing all of them takes most of the time."""
    words = {*re.findall(r"\w+", text), "stdin", "NULL"}
    lines = PRELUDE.replace(NULL, "").replace("*stdin, *stdout, *stderr", "*stdin; extern FILE *stdout; extern FILE *stderr")
    kept = [d for d in lines.split(";") if "typedef" in d or "enum" in d or words & set(re.findall(r"(\w+)(?=\(|$)", d))]
    return ";".join(kept) + f";\n{NULL}"


class Found:
    """Programs, and the copies of them that were tried: text -> what the analysis said of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.tried: dict[str, Program] = {}

    def analyse(self, text: str, role: Role = "map") -> Program:
        path = self._folder / f"{role}.c"
        path.write_text(text)
        options = replace(BuildOptions.make([str(path)], arch=["none"]), programs=((role, path),))
        return spine.analyse(options, mend=True).manifest.programs[0]


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Found:
    """Without a C compiler where nothing but the prelude is to preprocess."""
    found, begin, look = Found(tmp_path), CcRuns.begin, spine._found

    def quick(path: Path, *rest: Any) -> CcRuns:
        text = Path(path).read_text().replace(NULL, "\n")
        return begin(path, *rest) if _PREPROCESSOR.search(text) else CcRuns.given(str(path), preprocessed(text))

    def looked(options: BuildOptions) -> Program:
        text = options.programs[0][1].read_text()
        found.tried[text] = look(options)
        return found.tried[text]

    monkeypatch.setattr(CcRuns, "begin", staticmethod(quick))
    monkeypatch.setattr(spine, "_found", looked)
    return found


def told(program: Program) -> Counter[str]:
    """Codes and messages, places left out."""
    no_fold = [program.region.no_fold] if program.region and program.region.no_fold else []
    reasons = [*program.gpu_refusals, *no_fold, *(program.no_host if program.role == "reduce" else ())]
    return Counter(f"{r.code} {re.sub('[0-9]+', 'N', r.message)}" for r in reasons)


def check(before: Program, text: str, code: str, said: str, found: Found) -> None:
    """One of the reasons of this code has a change that says this, and the text with it has one reason less."""
    no_fold = [before.region.no_fold] if before.region and before.region.no_fold else []
    reasons = [r for r in (*before.gpu_refusals, *no_fold, *before.no_host) if r.code == code]
    mended = [r for r in reasons if r.fix is not None and any(said in change.new for change in r.fix.changes)]
    assert mended, reasons
    for reason in mended:
        assert reason.fix is not None
        after = found.tried[trials.changed(text.split("\n"), reason.fix.changes)]
        (key,) = told(replace(before, gpu_refusals=(reason,), region=None, no_host=()))
        assert told(after)[key] < told(before)[key]
        assert len(after.no_host if after.role == "reduce" else after.gpu_refusals) == reason.fix.left


@pytest.mark.parametrize(("code", "said", "text"), MENDED, ids=[f"{i}-{row[0]}" for i, row in enumerate(MENDED)])
def test_the_change_made_and_compiled_again_ends_the_refusal(code: str, said: str, text: str, found: Found) -> None:
    role: Role = "combine" if "mapreduce combiner" in text else "map"
    whole = needed(text + said) + text
    check(found.analyse(whole, role), whole, code, said, found)


@pytest.mark.parametrize("body", [
    f"if (line[0] == 'q') v = 1;\nv += rand(); {PRINT}",  # a sum of records: to begin anew would be another program
    f"v = bad(line); {PRINT}",  # no loop to continue in
    f"v = unknown(line); {PRINT}",
])
def test_what_does_not_help_is_not_told(body: str, found: Found) -> None:
    helpers = "int unknown(char *);\n#define CC 1\nstatic int bad(char *s) {\n_exit(0);\n}"
    program = found.analyse(needed(body) + mapper(body, helpers=helpers))
    assert program.gpu_refusals and all(r.fix is None for r in program.gpu_refusals if r.code in ("HD210", "HD214", "HD223"))


@pytest.mark.parametrize("code", ELSEWHERE)
def test_changes_of_whole_files(code: str, found: Found) -> None:
    role, text, said = ELSEWHERE[code]
    check(found.analyse(text, role), text, code, said, found)


def test_remedies_of_messages_go_by_what_the_compiler_says() -> None:
    files = [path.read_text() for path in sorted((ROOT / "heterodoop" / "compiler").rglob("*.py"))]
    said = re.sub(r'"\s*\n\s*f?"', "", "\n".join(files))
    said += "the code before the region prints, the code before the region calls atexit(), '__builtin_mul_overflow'"
    for code, rows in REMEDIES.items():
        assert code in REFUSALS and all(re.search(pattern, said) for pattern, _ in rows), code
        assert all(remedy(code, "nothing of these") == CODES[code].fix != text for _, text in rows)
    assert remedy("HD304", "asm is not analysed") == "Leave it out, or write it in C."


def test_every_refusal_has_a_remedy_or_says_that_nothing_helps() -> None:
    tried = {code for code, _, _ in MENDED} | set(ELSEWHERE)
    for code in sorted(REFUSALS):
        entry = CODES[code]
        assert entry.fix.strip() and not entry.fix.startswith("Nothing to do"), code
        assert bool(entry.line) == (code in DRAFTS), f"{code}: the index and the drafts differ"
        assert not (entry.line and entry.fix.startswith(NOTHING)), code
        assert code not in DRAFTS or code in tried, f"{code}: no test makes its change"
    assert not set(DRAFTS) - REFUSALS and not any(CODES[code].line for code in set(CODES) - REFUSALS)


