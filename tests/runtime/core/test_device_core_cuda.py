"""nvcc takes the texts that the emulated device runs, for two architectures, and keeps lanes in registers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from heterodoop import resources
from heterodoop.compiler.emit import ordered
from heterodoop.compiler.types import ctype
from heterodoop.toolchain.nvcc import FLAGS, find_nvcc

from ...compiler.keyloop import random_loops
from ...compiler.regions import analyse

DEVICE = Path(resources.find("runtime", "device"))
WORDS = r"""
#include "lane/lane.cuh"
#include "libc/format.cuh"
extern "C" __global__ void __launch_bounds__(128) hd_map(HD_PARAMETER const hd::Task task) {
    hd::Lane<hd::BlockCursor> hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        long n;
        while ((n = hd.in.getline(&line, &capacity)) != -1) hd.print(hd::bytes(line, n - 1), hd::text("\t1\n", 3));
    }
    hd.finish();
}
HD_KERNEL(hd_map, hd::Task)
"""


def compiled(source: Path, arch: str, folder: Path) -> dict[str, tuple[int, int]]:
    """Entry -> (bytes of stack, bytes spilled), as ptxas reports them. Warnings are errors."""
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("no nvcc here")
    command = [nvcc.path, *FLAGS, "-Werror", "all-warnings", "-cubin", f"-arch={arch}", "-I", str(DEVICE), "-o",
               str(folder / "out.cubin"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    entry = re.compile(r"entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores", re.DOTALL)
    return {name: (int(stack), int(spills)) for name, stack, spills in entry.findall(done.stderr)}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_the_runtimes_kernels_compile(arch: str, tmp_path: Path) -> None:
    found = compiled(DEVICE / "steps" / "kernels.cu", arch, tmp_path)
    texts = "".join(path.read_text() for path in DEVICE.rglob("*.cuh") if path.name != "ordered.cuh")
    assert set(found) == set(re.findall(r"HD_KERNEL\((hd_\w+),", texts)) and len(found) >= 20
    assert set(found.values()) == {(0, 0)}


def test_a_map_kernel_keeps_its_lane_in_registers(tmp_path: Path) -> None:
    source = tmp_path / "map.cu"
    source.write_text(WORDS)
    assert compiled(source, "sm_90", tmp_path) == {"hd_map": (64, 0)}  # the short text that a print puts together


def test_the_kernels_of_an_ordered_loop_compile(tmp_path: Path) -> None:
    program = analyse(random_loops.program(12).source)[0]
    made = ordered.ordered(program.region, program.facts.fold.loop)
    assert made is not None and {field.type for field in made.loop.reads.fields} >= {ctype.DOUBLE}
    source = tmp_path / "combine.cu"
    source.write_text(ordered.emit(made, program.program.region))
    found = compiled(source, "sm_90", tmp_path)
    assert set(found) == set(re.findall(r"HD_KERNEL\((\w+),", (DEVICE / "sink" / "ordered.cuh").read_text()))
    assert found["hd_combine"] == found["hd_combine_long"] == (0, 0) and all(spills == 0 for _, spills in found.values())
