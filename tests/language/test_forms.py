"""The forms of C that docs/c-taken.md lists: each gives plain C's bytes in every way, or a reason at its place."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .. import kept
from ..support import Bundles, cli_here, parts
from .forms import FORMS, INPUT, LEFT, UNREAD, functions

WAYS = {"filter": ("--filters",), "host": (), "device": ("--device", "emulated", "-D", "heterodoop.emulated.order=random")}
CODES = {  # of the functions of left.c, that of their first reason
    "bit_fields": "HD330", "int128": "HD237", "long_double": "HD330", "wide_characters": "HD222", "varargs": "HD330",
    "regular_expressions": "HD223",
    "mktime_of_a_record": "HD221", "localtime_of_a_record": "HD221", "rand_and_srand": "HD221", "random_numbers": "HD221",
    "vsnprintf_of_arguments": "HD235", "long_jumps": "HD216", "memory_streams": "HD229",
    "overflow_builtins": "HD330", "parameters_of_rows": "HD330",
}


def plain(source: Path) -> list[bytes]:
    """Lines that the program prints by itself, as a part file has them, sorted."""
    binary = kept.program(["gcc", "-w", "-fwrapv", source, "-lm"])
    text = subprocess.run([binary], input=INPUT.read_bytes(), stdout=subprocess.PIPE, check=True).stdout
    return sorted(line if b"\t" in line else line[:-1] + b"\t\n" for line in text.splitlines(keepends=True))


def printed(bundle: Path, output: Path, *options: str) -> list[bytes]:
    cli_here("run", bundle, INPUT, "-o", output, "-r1", "--quiet", *options)
    return sorted(b"".join(parts(output)).splitlines(keepends=True))


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("way", WAYS)
def test_what_runs_everywhere(way: str, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(FORMS.read_text())
    assert printed(bundle, tmp_path / "out", *WAYS[way]) == plain(FORMS)
    report = json.loads((tmp_path / "out.report" / "report.json").read_text())
    if way == "device":
        assert report["device"]["map_tasks"] == {"emulated": 1}, report["device"]["left_to_cpu"]
    assert way != "host" or report["map"]["cpu"]["host_kernels"] == 1


def test_what_stays_on_the_cpu_has_a_reason_at_its_place(bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(LEFT.read_text())
    (program,) = json.loads((bundle / "manifest.json").read_text())["programs"]
    found = [(reason["span"]["line"], reason["code"]) for reason in program["gpu_refusals"]]
    for name, lines in functions(LEFT).items():
        assert CODES[name] in {code for line, code in found if line in lines}, f"{name}: {found}"
    assert printed(bundle, tmp_path / "out") == plain(LEFT)


@pytest.mark.parametrize("source", sorted(UNREAD.glob("*.c")), ids=lambda path: path.stem)
def test_what_is_not_read_is_named(source: Path, tmp_path: Path) -> None:
    done = cli_here("compile", source, "--emit", "manifest")
    (reason,) = json.loads(done.out)["programs"][0]["gpu_refusals"]
    assert reason["code"] == "HD304" and reason["span"]["line"] in range(15, 40), reason
    assert reason["message"].endswith("is not analysed")
