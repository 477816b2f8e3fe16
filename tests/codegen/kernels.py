"""Kernels for tests: C text in, the generated CUDA text out, and programs that run it in one lane. Not a test module.

`build_lane` makes a sanitized program of a text (undefined behaviour and wild accesses end it), so that what runs is also
shown to be C++ without surprises.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from heterodoop.compiler import passes
from heterodoop.compiler.emit import kernel as emit_cuda
from heterodoop.compiler.ir import ir
from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import load
from heterodoop.diag import Sink
from heterodoop.toolchain.cc import CcOptions

from .. import kept

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DEVICE = ROOT / "runtime" / "device"
_SANITIZE = ["-fsanitize=undefined,address", "-fno-sanitize-recover=undefined"]
_EXACT = ["-fno-strict-aliasing", "-ffp-contract=off"]
FAILED = 40  # a lane's exit status is this plus hd::Status


@dataclass(frozen=True)
class Done:
    status: int
    out: bytes
    err: bytes


@dataclass(frozen=True)
class Emitted:
    text: str
    combine: bool


def emit(source: Path) -> Emitted:
    """The kernel of a C file that has no reason against the GPU."""
    unit = load(source, CcOptions())
    assert unit.refusal is None, unit.refusal
    sink = Sink()
    bound = bind(unit, sink)
    assert not sink.errors, sink.errors
    analysis = passes.run(unit, bound[0], sink, verify=True)
    assert not analysis.refusals, analysis.refusals
    text = emit_cuda.emit(analysis.facts.device, analysis.region.fold)
    return Emitted(text, isinstance(analysis.program.region, ir.CombineRegion))


def build_lane(emitted: Emitted) -> Path:
    """A program that runs the kernel in one lane, see lane_main.cpp."""
    entry = "hd_combine" if emitted.combine else "hd_map"
    defines = ['-DKERNEL="/dev/stdin"', f"-DENTRY={entry}", f"-DPER_RECORD={int(not emitted.combine)}"]
    command = ["g++", "-std=c++17", "-w", "-O0", *_EXACT, *_SANITIZE, *defines, f"-I{DEVICE}", HERE / "lane_main.cpp"]
    return kept.program(command, text=emitted.text, folders=[DEVICE], name=entry)


def build_filter(source: Path) -> Path:
    """The C program as the CPU filters are built."""
    text = source.read_text(encoding="utf-8")
    return kept.program(["gcc", "-w", "-O1", "-fwrapv", *_EXACT, "-x", "c", "-", "-lm"], text=text)


def run(binary: Path, data: bytes, *arguments: str) -> Done:
    done = subprocess.run([binary, *arguments], input=data, capture_output=True, timeout=60)
    return Done(done.returncode, done.stdout, done.stderr)
