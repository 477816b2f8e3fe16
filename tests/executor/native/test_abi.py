"""The structures of the C ABI as ctypes has them, against its headers: names, order, places and sizes of all fields.

The library tells its sizes when it is opened; a swap of two fields of one size is what only this finds.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

from heterodoop.executor.native import abi, gpu_abi

from ...support import ROOT

HEADERS = ROOT / "runtime" / "host" / "task"
BLOCKS: dict[str, type[ctypes.Structure]] = {
    "hd_command": abi.Command, "hd_pair_check": abi.PairCheck, "hd_progress": abi.ProgressBlock, "hd_map_spec": abi.MapBlock,
    "hd_segment": abi.SegmentBlock, "hd_reduce_spec": abi.ReduceBlock, "hd_prologue_spec": abi.PrologueBlock,
    "hd_result": abi.ResultBlock, "hd_text": abi.Text, "hd_key_range": abi.KeyRangeBlock,
    "hd_pair_form": abi.PairFormBlock, "hd_blob": gpu_abi.Blob, "hd_relocation": gpu_abi.RelocationBlock,
    "hd_kernel_spec": gpu_abi.KernelBlock, "hd_gpu_options": gpu_abi.OptionsBlock, "hd_gpu_stats": gpu_abi.StatsBlock,
}


def test_each_field_is_where_the_headers_have_it(tmp_path: Path) -> None:
    wanted, lines = [], []
    for name, block in BLOCKS.items():
        for field, *_ in block._fields_:
            place = getattr(block, field)
            wanted.append(f"{name} {field} {place.offset} {place.size}")
            lines.append(f'SHOW({name}, {field});')
        wanted.append(f"{name} {ctypes.sizeof(block)}")
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
    source = tmp_path / "fields.c"
    headers = "<stddef.h>", "<stdio.h>", f'"{HEADERS / "api.h"}"', f'"{HEADERS / "gpu_api.h"}"'
    source.write_text(
        "".join(f"#include {header}\n" for header in headers)
        + '#define SHOW(s, f) printf(#s " " #f " %zu %zu\\n", offsetof(s, f), sizeof((s){0}.f))\n'
        + "int main(void) {\n" + "\n".join(lines) + "\n}\n")
    subprocess.run(["cc", "-I", ROOT / "runtime" / "host", source, "-o", tmp_path / "fields"], check=True)
    shown = subprocess.run([tmp_path / "fields"], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == wanted


def test_each_structure_of_the_headers_is_compared() -> None:
    text = "".join((HEADERS / name).read_text() for name in ("api.h", "gpu_api.h"))
    assert {line.split()[1].rstrip(";") for line in text.splitlines() if line.startswith("} hd_")} == BLOCKS.keys()
