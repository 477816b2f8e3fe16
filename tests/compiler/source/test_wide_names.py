"""Names with letters beyond ASCII, in every spelling: analysed, run on a device, and shown as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import load
from heterodoop.compiler.source.wide_names import in_c, plain, plain_text, shown
from heterodoop.diag import Sink
from heterodoop.manifest import Reason
from heterodoop.toolchain.cc import CcOptions

from ...support import Bundles, cli_here, parts

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct größe { int länge, gr\u00f6\u00dfte; };
static int größer(int a, int b) { return a > b ? a : b; }
#define MAß 2
int main(void)
{
    char line[64], ärger[64];
    struct größe größe = {0, 0};
    int gewicht\U000000fc = MAß, n = getenv("PATH") != NULL;
#pragma mapreduce mapper key(ärger) value(gr\u00f6\u00dfe) keylength(64)
    while (fgets(line, sizeof line, stdin) != NULL) {
        strcpy(ärger, line);
        ärger[strcspn(ärger, "\nß\u00fc")] = '\0';
        größe.länge = größer((int)strlen(ärger), gewichtü);
        gr\u00f6\u00dfe.größte = größer(größe.länge, n) + 1;
        printf("%s\t%d ß %d\n", ärger, größe.länge, größe.größte);
    }
    return 0;
}
"""


def test_names_are_plain_and_back() -> None:
    text = plain_text("int gr\\U000000f6\\u00dfe = größe2, $ä; char *s = \"größe\\u00f6\"; int c = 'ö', a\\\\b;")
    assert text == (
        "int gr__hduf6___hdudf_e = gr__hduf6___hdudf_e2, $__hdue4_; char *s = \"größe\\u00f6\"; int c = 'ö', a\\\\b;")
    assert plain("plain") == "plain" and plain("größe") == plain(r"gr\u00f6\U000000dfe")
    assert shown(plain("größe")) == "größe" and in_c(plain("größe")) == r"gr\U000000f6\U000000dfe"
    assert shown((Reason("HD1", plain("ä")), 3, "x")) == (Reason("HD1", "ä"), 3, "x")


def test_places_of_wide_names(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(PROGRAM.replace("value(gr", "value(grr"))
    sink = Sink()
    unit = load(path, CcOptions())
    assert unit.refusal is None and bind(unit, sink) == []
    (error,) = sink.errors
    assert error.code == "HD111" and "'grr" in error.message
    path.write_text(PROGRAM)
    (region,) = bind(load(path, CcOptions()), Sink())
    assert (region.scope[plain("ärger")].span.line, region.scope[plain("ärger")].span.col) == (10, 20)


@pytest.mark.usefixtures("kernel_cache")
def test_a_program_of_wide_names_runs_on_a_device(bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(PROGRAM)
    explained = cli_here("explain", bundle).out.decode()
    assert "pair        key ärger [64], value größe" in explained and "gewichtü" in explained and "__hdu" not in explained
    (tmp_path / "in").write_text("a\nbcdé\nß\n")
    for device in ("cpu", "emulated"):
        done = cli_here("run", bundle, tmp_path / "in", "-o", tmp_path / device, "--device", device, "-r", 0)
        assert "warning" not in done.message
    assert parts(tmp_path / "cpu") == parts(tmp_path / "emulated") != [b""]
