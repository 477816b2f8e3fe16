"""What the C library does is asked once, and decides what kernels do, or that a program stays on the CPU."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path

import pytest

from heterodoop.compiler import kernels, spine
from heterodoop.compiler.app import BuildOptions
from heterodoop.toolchain import probe
from heterodoop.toolchain.probe import ProbedMachine

from ..support import Bundles, cli_here, parts

NUMBERS = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char line[99];
    int v;
#pragma mapreduce mapper key(line) value(v)
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\\n")] = 0;
        v = -1;
        sscanf(line, "%i", &v);
        printf("%s %ld %.9g\\t%d\\n", line, strtol(line, NULL, 0), (double)strtof(line, NULL), v);
    }
    return 0;
}
"""
# What glibc 2.41 says where 2.36 says something else.
NEWER = {
    "tiny hexadecimals": "4de3df6e4e2513f0", "large payloads": "d9c273cf3482579d", "scanned payloads": "d8cf67018daa1b4d",
    "c23:strtol": "4d06c43eb052dea8", "c23:scanned integers": "3f8d93766ee6f84d",
}
OLDER = {
    "tiny hexadecimals": "8b13eea556d20f1b", "large payloads": "9709bff246b44f1f", "scanned payloads": "a611a41dc46e3699",
}


def analysed(tmp_path: Path, text: str = NUMBERS) -> spine.Analysed:
    (tmp_path / "map.c").write_text(text)
    (program,) = spine.analyse(BuildOptions.make([str(tmp_path / "map.c")])).programs
    return program


@pytest.fixture
def here() -> ProbedMachine:
    return probe.machine()


def pretend(monkeypatch: pytest.MonkeyPatch, machine: ProbedMachine) -> None:
    monkeypatch.setattr(probe, "machine", lambda: machine)


def test_this_machine_is_known(here: ProbedMachine) -> None:
    """Else kernels are kept off devices here; the hashes of a new library belong into runtime/probe/known.txt."""
    assert here.library.startswith("glibc ") and not here.failure and not here.strange
    assert [name for name in here.behaviour if here.macros(name) is None] == []
    assert len(here.behaviour) > 100 and here.macros("no such function") == frozenset()


def test_devices_read_numbers_as_this_machines_library(bundles: Bundles, tmp_path: Path) -> None:
    """What libraries read otherwise, with _GNU_SOURCE; the plain filter is what is right."""
    app = bundles.get("#define _GNU_SOURCE\n" + NUMBERS)
    lines = ["0b110", "-0b1", "0B", "0b2", "+0b0", "0x1F", "0xaA9.CC88p-141", "0x1.fffffep-127", "1e-999", "0x", "08", " 12"]
    (tmp_path / "in").write_text("\n".join(lines) + "\n")
    for device in ("cpu", "emulated"):
        cli_here("run", app, tmp_path / "in", "-o", tmp_path / device, "--device", device, "--quiet")
    assert parts(tmp_path / "cpu") == parts(tmp_path / "emulated")
    data = (tmp_path / "in").read_bytes()
    plain = subprocess.run([app / "bin" / "map"], input=data, capture_output=True, check=True)
    assert sorted(plain.stdout.splitlines()) == sorted(parts(tmp_path / "cpu")[0].splitlines())
    report = json.loads((tmp_path / "emulated.report" / "report.json").read_text())
    assert report["device"]["map_tasks"] == {"emulated": 1} and report["device"]["left_to_cpu"] == []


def test_a_newer_library_decides_what_kernels_do(
    here: ProbedMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, dataclasses.replace(here, behaviour={**here.behaviour, **NEWER}))
    program = analysed(tmp_path)
    assert program.region is not None and program.region.macros == ("HD_EXACT_HEXADECIMALS", "HD_QUIET_PAYLOADS")
    assert "#define HD_EXACT_HEXADECIMALS 1" in kernels.text(program.region)


def test_headers_may_lead_calls_to_other_functions(
    here: ProbedMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend(monkeypatch, dataclasses.replace(here, behaviour={**here.behaviour, **NEWER}))
    led = 'extern long hd_a(void) __asm__("__isoc23_strtol"), hd_b(void) __asm__("__isoc23_sscanf");\n'
    (tmp_path / "led.h").write_text(f"#pragma GCC system_header\n{led}")
    program = analysed(tmp_path, '#include "led.h"\n' + NUMBERS)
    assert program.region is not None
    assert program.region.macros[:2] == ("HD_BINARY_INTEGERS", "HD_BINARY_SCANS")


def test_glibc_2_36_needs_no_macro(here: ProbedMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {name: value for name, value in here.behaviour.items() if not name.startswith("c23:")}
    pretend(monkeypatch, dataclasses.replace(here, behaviour={**plain, **OLDER}))
    program = analysed(tmp_path)
    assert program.region is not None and not {m for m in program.region.macros if not m.startswith("HD_BINARY")}


@pytest.mark.parametrize(("behaviour", "place"), [("strtol", "13:43: strtol()"), ("scanned integers", "12:9: sscanf()"),
                                                  ("tiny hexadecimals", "13:74: strtof()"),
                                                  ("printed reals", "13:9: printf()")])
def test_what_kernels_do_not_know_keeps_the_program_on_the_cpu(
    behaviour: str, place: str, here: ProbedMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    odd = dict.fromkeys((behaviour, f"c23:{behaviour}"), "0" * 16)
    pretend(monkeypatch, dataclasses.replace(here, library="glibc 9.1", behaviour={**here.behaviour, **odd}))
    (reason,) = analysed(tmp_path).refusals
    assert (reason.code, "glibc 9.1" in reason.message) == ("HD308", True)
    assert f"{reason.place}: {reason.message}".startswith(f"{tmp_path}/map.c:{place}")


def test_other_functions_do_not_matter(here: ProbedMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, dataclasses.replace(here, behaviour={**here.behaviour, "strtok": "0" * 16, "isalpha": "0" * 16}))
    assert analysed(tmp_path).refusals == ()


def test_a_compiler_whose_programs_do_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper = tmp_path / "cc"
    fails = 'case "$*" in *numbers.c*) echo "cc: error: no such luck" >&2; exit 1;; esac'
    wrapper.write_text(f'#!/bin/sh\n{fails}\nexec gcc "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", str(wrapper))
    (reason,) = analysed(tmp_path).refusals
    assert (reason.code, "no such luck" in reason.message) == ("HD309", True)


def test_the_answer_is_kept_and_asked_again_for_another_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    first = probe.machine(cache)
    wrapper = tmp_path / "my-gcc"
    wrapper.write_text('#!/bin/sh\nexec gcc "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", str(wrapper))
    assert probe.machine(cache) == first and len(list((cache / "probe").glob("*.txt"))) == 2
