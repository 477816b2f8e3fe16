"""A loop that asks for the end of the input reads what its filter reads: with a last line's end, without, and nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import Bundles

pytestmark = pytest.mark.usefixtures("kernel_cache")
PROGRAM = """#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[8], *p; int one = 1;
#pragma mapreduce mapper key(p) value(one) keylength(8) kvpairs(1)
    while (!feof(stdin)) {
        if (fgets(line, sizeof line, stdin) == NULL)
            break;
        p = strchr(line, '=');
        if (!p) goto next;
        p[strcspn(p, "\\n")] = 0;
        printf("%s\\t%d\\n", p, one);
    next: ;
    }
    return 0;
}
"""


def test_the_last_line_is_read_once(bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(PROGRAM)
    for text in (b"a=1\nb\nc=2", b"a=1\nb\nc=2\n", b"=", b"\n", b""):
        (tmp_path / "in").write_bytes(text)
        on_device = verify(bundle, [str(tmp_path / "in")], RunOptions(device="emulated"))
        as_host = verify(bundle, [str(tmp_path / "in")], RunOptions(), host=True)
        outcomes = [verdict.outcome for found in (on_device, as_host) for verdict in found.verdicts]
        assert set(outcomes) <= {"equal"} and (outcomes or not text), (text, outcomes)
