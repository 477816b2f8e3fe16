"""Readers on the page of C that is taken: a row's program runs where it says, and what its loop becomes reads the same."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from heterodoop.compiler.analysis.restored import restored
from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.spine import Analysed, analyse
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..compiler.ir_c import build_ir
from ..support import ROOT, Bundles
from .inputs import INPUTS, PROGRAMS

PAGE = ROOT / "docs" / "c-taken.md"
ROW = re.compile(r"^\| .* \| (?P<where>everywhere|CPU) \| (?P<note>.*) \| reader: (?P<name>\w+) \|$")
CODE = re.compile(r"^\[(HD\d+)\]\(errors\.md\): .")


@cache
def rows() -> dict[str, str]:
    """Name of a program -> the code of the reason that keeps it on the CPU, "" where it runs everywhere."""
    found: dict[str, str] = {}
    for row in filter(None, map(ROW.match, PAGE.read_text().splitlines())):
        code = CODE.match(row["note"])
        assert (code is not None) == (row["where"] == "CPU"), row[0]
        found[row["name"]] = code[1] if code else ""
    return found


@cache
def analysed(name: str) -> Analysed:
    return analyse(BuildOptions.make([str(PROGRAMS / f"{name}.c")], verify=True)).programs[0]


def test_each_row_has_its_program_and_each_program_its_row() -> None:
    assert sorted(rows()) == sorted(path.stem for path in PROGRAMS.glob("*.c"))


def test_each_program_is_taken_where_its_row_says() -> None:
    wrong = []
    for name, code in rows().items():
        program = analysed(name)
        assert program.region is not None, name
        codes = {reason.code for reason in program.refusals}
        told = all(reason.place.startswith(f"{PROGRAMS / name}.c:") for reason in program.refusals)
        if program.region.has_kernel != (not code) or not codes >= {code} - {""} or not told:
            wrong.append((name, code, program.refusals))
    assert wrong == []


def test_what_the_compiler_makes_of_a_loop_prints_what_the_program_does(tmp_path: Path) -> None:
    """The region after its rewrites, as C; where it says that it leaves a task to the filter, nothing is compared."""
    names = [name for name, code in rows().items() if not code]

    def differs(name: str) -> str:
        program = analysed(name).region
        assert program is not None
        plain = tmp_path / f"{name}.plain"
        subprocess.run(["gcc", "-w", "-fwrapv", "-o", plain, PROGRAMS / f"{name}.c"], check=True)
        made = build_ir(restored(program.after["record_loop"]), tmp_path / name)
        compared = 0
        for data in INPUTS:
            one, other = (subprocess.run([path], input=data, capture_output=True, timeout=20) for path in (plain, made))
            if other.returncode >= 0:
                compared += 1
                if (one.returncode, one.stdout) != (other.returncode, other.stdout):
                    return f"{name}: {data!r}"
        return "" if compared > len(INPUTS) // 4 else f"{name}: left to the filter"

    with ThreadPoolExecutor(2) as threads:
        assert [text for text in threads.map(differs, names) if text] == []


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("name", ["read_line_length"])
def test_devices_host_kernels_and_filters_print_the_same(name: str, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get((PROGRAMS / f"{name}.c").read_text())
    files = []
    for number, data in enumerate(INPUTS):
        files.append(tmp_path / f"{number:02}")
        files[-1].write_bytes(data)
    for host, options in ((False, RunOptions(device="emulated")), (True, RunOptions())):
        found = verify(bundle, [str(path) for path in files], options, host=host).verdicts
        assert {verdict.outcome for verdict in found} == {"equal"}, found
