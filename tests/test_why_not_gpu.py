"""`explain --why-not-gpu`: what would help most comes first, and what it says to change is right."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop import why_not_gpu
from heterodoop.compiler import spine, trials
from heterodoop.compiler.app import BuildOptions
from heterodoop.errors import EXIT_LIMITATION
from heterodoop.manifest import Change, Fix, Manifest, Reason

from .support import ROOT, cli_here

APPS = ROOT / "apps"
MAP = (APPS / "wordcount" / "map.c").read_text()
REFUSED = MAP.replace("        one = 1;\n", "        one = 1;\n        if (line[0] == 'q')\n            return 1;\n")
REFUSED = REFUSED.replace("            offset += step;\n", "            offset += step;\n            one = rand();\n")
QUIT = REFUSED[: REFUSED.index("            return 1;")].count("\n") + 1


def test_the_changes_of_an_app_bring_its_map_to_devices(tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "map.c").write_text(REFUSED)
    combine = (APPS / "wordcount" / "combine.c").read_text()
    (app / "combine.c").write_text(re.sub(r"#pragma mapreduce.*\n.*\n", "", combine))
    (app / "reduce.c").write_text('#include <stdio.h>\nint main(void)\n{\n    puts("x");\n    return 0;\n}\n')
    found = json.loads(cli_here("explain", app, "--why-not-gpu", "--json", status=EXIT_LIMITATION).out)
    rows = found["obstacles"]
    assert not found["runs"] and [(o["program"], o["code"]) for o in rows] == [
        ("map", "HD213"), ("map", "HD221"), ("combine", "HD202"), ("reduce", "HD267")]
    for row in rows:
        assert row["remedy"] and (row["line"] or row["code"] in ("HD202", "HD267")), row
    changes = [Change(**one) for row in rows[:2] for one in row["fix"]["changes"]]
    (app / "map.c").write_text(trials.changed(REFUSED.split("\n"), changes))
    said = cli_here("explain", app, "--why-not-gpu").out.decode()
    assert said.startswith("app: nothing: the map runs on devices; 2 other things could be faster\n\n1. the combiner: ")


def test_the_text_shows_place_line_and_change(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(REFUSED)
    done = cli_here("compile", tmp_path / "map.c", "-o", tmp_path / "x.hdp", "--arch", "none").err.decode()
    said = cli_here("explain", tmp_path / "x.hdp", "--why-not-gpu", status=EXIT_LIMITATION).out.decode()
    for text, indent in ((said, 3), (done, 10)):
        change = ["change (tried: 1 left then):",
                  f"  - {QUIT} |             return 1;", f"  + {QUIT} |             exit(1);"]
        assert "\n".join(" " * indent + line for line in change) in text, text
    assert re.search(r": 2 reasons keep the map off devices; each has a small change\n\n"
                     rf"1\. the map: \S+map\.c:{QUIT}:\d+: return", said), said


@pytest.fixture(scope="module")
def plain() -> Manifest:
    return spine.analyse(BuildOptions.make([str(APPS / "wordcount")], arch=["none"])).manifest


def test_what_helps_most_comes_first(plain: Manifest) -> None:
    def mended(left: int) -> Fix:
        return Fix((Change(1, "a", "b"),), "", left)

    reasons = (Reason("HD263", "whatever"), Reason("HD225", "by hand"), Reason("HD212", "two left", fix=mended(2)),
               Reason("HD214", "none left", fix=mended(0)), Reason("HD214", "none left either", fix=mended(0)))
    first = replace(plain.programs[0], gpu_refusals=reasons)
    found = why_not_gpu.obstacles(replace(plain, programs=(first, *plain.programs[1:])))
    assert [o.reason.message for o in found] == ["none left", "none left either", "two left", "by hand", "whatever"]
    said = why_not_gpu.text(replace(plain, programs=(first,)))
    assert "5 reasons keep the map off devices, one of them whatever is changed\n" in said
    assert "help: Nothing to change: " in said and "either [HD214]\n   change: that of 1 mends it, too\n" in said


def test_nothing_is_said_plainly(plain: Manifest) -> None:
    assert why_not_gpu.text(plain) == "wordcount: nothing: the map runs on devices\n" and why_not_gpu.runs(plain)


