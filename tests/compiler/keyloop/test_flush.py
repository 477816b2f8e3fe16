"""What a combiner prints behind its region: of a fold it is done in the region, else it keeps the combiner off the GPU."""

from __future__ import annotations

import pytest

from heterodoop.compiler.ir import ir
from heterodoop.compiler.ir.walk import walk
from heterodoop.compiler.keyloop.flush import flush

from ..fold_programs import BEFORE, BODY, EMIT, FLUSH
from ..regions import COMBINER, analyse, codes

LOOP = 'while (scanf("%31s %d", word, &val) == 2)'


def behind(after: str, *, body: str = BODY, before: str = BEFORE, helpers: str = "") -> str:
    text = f"{helpers}\nint main(void) {{ {before}\n{COMBINER}\n{LOOP} {{ {body} }}\n{after}\nreturn 0; }}\n"
    return text.replace("EMIT", EMIT)


@pytest.mark.parametrize("source", [
    behind(FLUSH),
    behind("free(line); " + FLUSH, before=BEFORE + " char *line = malloc(9);"),
    behind("int done = count; " + FLUSH.replace("EMIT", EMIT.replace("count)", "done)"))),
    behind("put(prev, count);", helpers="static void put(const char *k, int n) {"
                                        ' if (k[0]) printf("%s\\t%d\\n", k, n); }'),
    behind(FLUSH + " fflush(stdout);"),
])
def test_of_a_fold_the_last_key_is_printed_in_the_region(source: str) -> None:
    analysis = analyse(source)[0]
    assert analysis.region.fold is not None and not analysis.refusals and analysis.has_kernel, analysis.refusals
    left = analysis.program.enclosing.body
    assert not any(isinstance(node, ir.Emit) for node in walk(left)) and isinstance(left.body[-1], ir.Return)
    assert isinstance(analysis.program.region.body.body[-1], (ir.If, ir.ExprStmt))
    assert ("free(" in source) == any(isinstance(node, ir.Call) and ir.called(node) == "free" for node in walk(left))
    assert flush(analysis.program) is analysis.program


@pytest.mark.parametrize("source", [
    behind(FLUSH + ' printf("all\\t1\\n");'),
    behind("if (!prev[0]) return 0; " + EMIT),
    behind(FLUSH, body="if (val > 9) exit(1); " + BODY),
    behind(FLUSH.replace("EMIT", EMIT.replace("count)", "count + 1)"))),
    behind("", body=BODY + ' printf("x\\t1\\n");').replace("return 0", "puts(prev); return 0"),
    behind(FLUSH, body="if (count > 5) break; " + BODY),
    behind(FLUSH, before=BEFORE + " if (1) {").replace("\nreturn", "\n} return"),
])
def test_what_is_printed_behind_anything_else_stays_there(source: str) -> None:
    assert "HD226" in codes(source)


def test_where_nothing_is_printed_behind_it_the_program_is_the_same() -> None:
    program = analyse(behind("count = 0;"))[0].program
    assert flush(program) is program
