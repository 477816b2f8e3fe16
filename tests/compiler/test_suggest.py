"""A map without a directive gets a proposal, and the proposal holds: with the line in its text comes what was promised."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heterodoop.compiler import spine
from heterodoop.compiler.app import BuildOptions
from heterodoop.manifest import Reason

from ..support import ROOT, cli_here

FOUND = ROOT / "bench" / "programs" / "found"
DIRECTIVE = re.compile(r"^[ \t]*(#pragma mapreduce .*)\n", re.MULTILINE)
# A public program each, and the clauses that are proposed: what each prints, by itself, in a helper or behind its loop.
PROPOSED = {
    "char_trigrams": "key(t)",
    "distinct": "key(line) keylength(256)",
    "epoch_days": "key(day)",
    "log_status": "key(status) value(bytes)",
    "words_getchar": "key(c)",
    "words_scanf": "key(word)",
    "words_strtok": "key(word) keylength(256)",
}
HELPER = r"""
#include <stdio.h>
static void emit(const char *text, int n) { if (n) printf("%s\t%d\n", text, n); }
int main(void)
{
    char word[40];
    int length;
    {
        while (scanf("%39s%d", word, &length) == 2)
            emit(word, length);
    }
    return 0;
}
"""
BEHIND = r"""
#include <stdio.h>
int main(void)
{
    char line[100];
    long lines = 0;
    for (; fgets(line, sizeof line, stdin); )
        lines++;
    printf("lines\t%ld\n", lines);
    return 0;
}
"""
CARRIED = r"""
#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[100], last[100] = "";
    int n = 0, seen = 0;
#pragma mapreduce mapper key(line) value(n)
    while (fgets(line, sizeof line, stdin)) {
        n = strcmp(line, last) ? 0 : n + 1;
        strcpy(last, line);
        printf("%d\t%d\n", n, seen = !seen);
    }
    return 0;
}
"""
SILENT = {
    "no loop over stdin": '#include <stdio.h>\nint main(void) { printf("a\\t1\\n"); return 0; }\n',
    "another stream": '#include <stdio.h>\nint main(void) { char a[9]; FILE *f = fopen("x", "r");\n'
                      'while (fgets(a, 9, f)) printf("%s\\t1\\n", a); return 0; }\n',
    "nothing printed": "#include <stdio.h>\nint main(void) { char a[9]; while (fgets(a, 9, stdin)) ; return 0; }\n",
    "no variable": "#include <stdio.h>\nint main(void) { char a[9]; while (fgets(a, 9, stdin)) "
                   'printf("a\\t1\\n"); return 0; }\n',
}


def said(text: str, folder: Path) -> list[Reason]:
    folder.mkdir(exist_ok=True)
    (folder / "map.c").write_text(text)
    program = spine.analyse(BuildOptions.make([str(folder)], arch=["none"])).manifest.programs[0]
    return list(program.gpu_refusals)


@pytest.mark.parametrize(("text", "clauses"), [
    *(pytest.param(DIRECTIVE.sub("", (FOUND / name / "map.c").read_text()), clauses, id=name)
      for name, clauses in PROPOSED.items()),
    pytest.param(HELPER, "key(word) value(length)", id="helper"), pytest.param(BEHIND, "key(lines)", id="behind"),
])
def test_the_proposal_holds(text: str, clauses: str, tmp_path: Path) -> None:
    missing = said(text, tmp_path / "without")
    assert [reason.code for reason in missing] == ["HD202"]
    proposed = re.search(r"#pragma mapreduce mapper (?:\w+\(\w+\) ?)+", missing[0].message)
    assert proposed and proposed[0].strip() == f"#pragma mapreduce mapper {clauses}"
    lines = text.split("\n")
    lines.insert(missing[0].span.line - 1, proposed[0].strip())
    left = said("\n".join(lines), tmp_path / "with")
    if left:
        promised = re.sub(r"\d+", "N", missing[0].message)  # the line that was added moves all others
        assert promised.endswith(re.sub(r"\d+", "N", f": {left[0].message} [{left[0].code}]"))
    else:
        assert "it runs on GPUs, too: #pragma" in missing[0].message


@pytest.mark.parametrize("name", SILENT)
def test_where_nothing_shows_the_pair_there_is_none(name: str, tmp_path: Path) -> None:
    found = said(SILENT[name], tmp_path / "app")
    assert [(reason.code, reason.message) for reason in found] == [("HD202", "there is no '#pragma mapreduce mapper' in it")]


def test_compile_says_what_where_and_what_to_do(tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "map.c").write_text(CARRIED)
    for role in ("combine", "reduce"):
        (app / f"{role}.c").write_bytes((ROOT / "apps" / "wordcount" / f"{role}.c").read_bytes())
    done = cli_here("compile", app, "-o", tmp_path / "x.hdp", "--arch", "none").err.decode()
    assert re.search(rf"  map     CPU only \({app}/map.c:10:\d+: '\w+' is read .* \[HD210\]\)\n"
                     r" +10 \|         n = strcmp.*\n +\| +\^.*\n"
                     r" +help: Set the variable .*\n +change, where 'last' is meant .*\n +\+ 9 \|         memset.*\n"
                     r" +and \d more reasons?: heterodoop explain --why-not-gpu\n", done), done
    assert "  combine CPU, as the map is\n  reduce  CPU, on typed values (host kernel)\n" in done
