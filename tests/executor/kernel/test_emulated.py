"""Opening the emulated device and what it is told; a C library stands in for the native runtime."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop.errors import DeviceError, ToolError
from heterodoop.executor.kernel.emulated import DeviceOptions, EmulatedDevice
from heterodoop.executor.kernel.gpu_task import KernelCall, KernelCode
from heterodoop.executor.kernel.prologue import LiveIns, Relocation
from heterodoop.executor.native import abi as native_abi
from heterodoop.executor.native import gpu_abi
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native, TaskStatus
from heterodoop.kernel_plan import KernelPlan
from heterodoop.manifest import Kernel
from heterodoop.resources import find

HOST = find("runtime", "host")
LIBRARY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "task/gpu_api.h"
const char *hd_counter_name(int32_t i) { static char s[9]; sprintf(s, "C%d", i); return s; }
const char *hd_stage_name(int32_t i) { static char s[9]; sprintf(s, "S%d", i); return s; }
void hd_result_free(hd_result *r) { free(r->user_counters); }
void hd_gpu_abi_sizes(uint64_t s[5]) {
  s[0] = sizeof(hd_blob) EXTRA; s[1] = sizeof(hd_relocation); s[2] = sizeof(hd_kernel_spec); s[3] = sizeof(hd_gpu_options);
  s[4] = sizeof(hd_gpu_stats);
}
hd_device *hd_device_open(const char *kind, int32_t ordinal, const char *library, char *error, uint64_t size) {
  if (FAILS) { snprintf(error, size, "no room for %s %d", kind, ordinal); return NULL; }
  return (hd_device *)strdup(kind);
}
void hd_device_close(hd_device *d) { free(d); }
int32_t hd_device_probe(hd_device *d, char *error, uint64_t n) { snprintf(error, n, "two and two are five"); return 1; }
void hd_device_stats(const hd_device *d, hd_gpu_stats *s) { memset(s, 0, sizeof *s); s->retries = 3; s->bytes_out = 9; }
int32_t hd_gpu_map_task(hd_device *d, const hd_map_spec *t, const hd_kernel_spec *m, const hd_kernel_spec *c,
                        const hd_gpu_options *o, hd_progress *p, hd_result *r) {
  memset(r, 0, sizeof *r);
  snprintf(r->message, sizeof r->message, "%s %s|%s %s %u %u shared %.*s objects %lu %.*s "
           "relocation %u %lu %lu sink %u %u %u %lu flags %u"
           "|%s|%lu %lu %u %u order %u pattern %u seed %lu memory %lu runtime %s records %u sort %u"
           " ingest %u %u",
           (char *)d, t->out_path, m->module, m->entry, m->threads, m->blocks, (int)m->shared.size, (char *)m->shared.data,
           m->n_objects, (int)m->objects[0].size, (char *)m->objects[0].data, m->relocations[0].object,
           m->relocations[0].at, m->relocations[0].delta, m->sink, m->key_bytes, m->value_bytes, m->kvpairs, m->flags,
           c ? c->module : "none", o->sub_split_bytes, o->arena_bytes, o->fold, o->regroup, o->emu_order, o->emu_pattern,
           o->emu_seed, o->emu_memory, o->runtime_module, o->record_order, o->sort_kind,
           o->ingest_threads, o->workers);
  p->records_in = 7;
  return r->status = c ? HD_DEVICE_FAILED : HD_OK;
}
"""


def native(folder: Path, fails: str = "0", extra: str = "") -> Native:
    argv = ["gcc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-I", HOST, "-o", folder / "lib.so"]
    source = LIBRARY.replace("FAILS", fails).replace("EXTRA", extra)
    subprocess.run(argv, input=source.encode(), check=True)
    library = ctypes.CDLL(str(folder / "lib.so"))
    for name in ("hd_counter_name", "hd_stage_name"):
        getattr(library, name).restype = ctypes.c_char_p
    return Native(library)


KERNEL = Kernel("map.cu", "hd_map", 64, 5, 6, 30, 12, 8, 0, (), "", "once", KernelPlan(sink="ThreadArea"), ())
CALL = KernelCall(KernelCode(KERNEL, Path("/m.so")), LiveIns(b"liveins!", (b"table",), (Relocation(0, 8, 2),)))
PLAIN = KernelCall(KernelCode(KERNEL, Path("/c.so")), LiveIns(b"x"))
SPEC = MapSpec(FilterCommand(["/bin/map"]), "in", "out")


def planned(plan: KernelPlan) -> KernelCall:
    return KernelCall(KernelCode(replace(KERNEL, plan=plan), Path("/m.so")), CALL.live_ins)


def test_a_task_is_passed_on_whole(tmp_path: Path) -> None:
    device = EmulatedDevice(native(tmp_path), Path("/r.so"), DeviceOptions(11, 12, 13, "random", 14, 165, 3, 2))
    result = device.map_task(SPEC, CALL, None)
    assert result.status is TaskStatus.OK and result.message == (
        "emulated out|/m.so hd_map 64 5 shared liveins! objects 1 table relocation 0 8 2 sink 1 30 12 6 flags 0|none"
        "|11 12 0 0 order 2 pattern 165 seed 14 memory 13 runtime /r.so records 1 sort 0 ingest 3 2"
    )
    for plan, said in (
        (KernelPlan(records="longest-first", sort="radix"), " records 0 sort 0 "),
        (KernelPlan(sort="merge"), " records 1 sort 1 "), (KernelPlan(areas="scan"), " flags 1|"),
        (KernelPlan(one_per_warp=True), " flags 2|"), (KernelPlan(one_per_warp=True, areas="scan"), " flags 3|"),
    ):
        assert said in device.map_task(SPEC, planned(plan), None).message
    assert (device.name, device.usable) == ("emulated", True)
    assert device.stats()["retries"] == 3 and device.stats()["bytes_out"] == 9
    device.close()
    device.close()
    assert not device.usable


def test_a_device_that_failed_is_not_usable(tmp_path: Path) -> None:
    device = EmulatedDevice(native(tmp_path), Path("/r.so"))
    result = device.map_task(SPEC, CALL, PLAIN)
    assert result.status is TaskStatus.DEVICE_FAILED and "|/c.so|0 0 1 1 order 0" in result.message and not device.usable
    device.close()


def test_a_device_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="cannot be opened: no room for emulated 0") as caught:
        EmulatedDevice(native(tmp_path, fails="1"), Path("/r.so"))
    assert caught.value.code == "HD413"


def test_a_library_with_other_structures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="Blob has 24 bytes there, 16 here") as caught:
        EmulatedDevice(native(tmp_path, extra="+ 8"), Path("/r.so"))
    assert caught.value.code == "HD512"


def test_a_library_without_device_calls_is_refused(tmp_path: Path) -> None:
    subprocess.run(["gcc", "-shared", "-x", "c", "-", "-o", tmp_path / "e.so"], input=b"", check=True)
    with pytest.raises(ToolError, match="hd_gpu_abi_sizes") as caught:
        gpu_abi.declare(ctypes.CDLL(str(tmp_path / "e.so")))
    assert caught.value.code == "HD512"


def test_the_stages_of_a_device_have_names() -> None:
    """The real library's; the emulated device's tasks report them."""
    native = Native.load()
    names = [native.library.hd_stage_name(i).decode() for i in range(native_abi.N_STAGES)]
    assert {"read", "copy_in", "index", "stage", "map", "sort", "gather", "copy_out", "write"} <= set(names)
