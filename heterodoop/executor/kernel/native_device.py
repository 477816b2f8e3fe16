"""A device of the native runtime: opening it, running a map task on it, what it counted. Emulated and CUDA devices differ
only in how they are opened (emulated.py, cuda.py).

Not here: how a task uses a device and what follows where it cannot (gpu_task.py), building modules.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Literal

from ...errors import DeviceError
from ...kernel_plan import KernelPlan
from ...manifest import Fold, Kernel, Manifest, Program
from ...values import dataclass
from ..native import gpu_abi as abi
from ..native.abi import Command
from ..native.runtime import MapSpec, Native, Progress, TaskResult, TaskStatus, c_bytes, command_block, map_block
from .epilogue import nothing_gathered
from .gpu_task import DeviceCode, KernelCall, KernelCode

_MIB = 1 << 20
_STACK_MARGIN = 16 << 10  # bytes a thread
_LARGEST_STACK = 512 << 10  # that a GPU gives a thread
LaneOrder = Literal["forward", "reverse", "random"]


@dataclass(frozen=True)
class DeviceOptions:
    """How a device runs tasks; sizes in bytes, 0 = chosen from its memory and the input.

    sub_split  input per launch.  arena: first room for a launch's output (too small: it grows and the launch is repeated).
    memory     that the emulated device has; 0 = no limit.
    order      which lane of the emulated device runs first; `seed` is of "random".
    pattern    byte that its private and shared memory hold before they are written.
    ingest_threads  threads that read the input.  workers: devices open at the same time on this machine; sessions: those of
                    them that are one GPU and share its memory.
    write_threads   threads that write the output.
    keep            percent of the memory for texts of splits that later tasks have again.
    limit           of the device's memory, that each of `sessions` may take, all together; of an emulated one too.
    """

    sub_split: int = 0
    arena: int = 0
    memory: int = 0
    order: LaneOrder = "forward"
    seed: int = 0
    pattern: int = 0
    ingest_threads: int = 0
    workers: int = 0
    sessions: int = 0
    write_threads: int = 0
    keep: int = 0
    limit: int = 0


def device_code(bundle: Path, manifest: Manifest, module: Callable[[Kernel], Path | None]) -> DeviceCode | None:
    """The bundle's kernels for a device; None where its map has none.

    module  gives a kernel's compiled form for the device, None where there is none. What it raises passes through.
    """
    map, combine = manifest.program("map"), manifest.program("combine")
    code = _kernel_code(bundle, map, module)
    if code is None:
        return None
    return DeviceCode(code, _kernel_code(bundle, combine, module) if combine and _combines(combine) else None)


def _combines(combine: Program) -> bool:
    """Can its kernel do a task's whole work?"""
    fold = combine.region.fold if combine.region else None
    return bool((fold and fold.regroup) or (combine.kernel and combine.kernel.plan.ordered))


def _kernel_code(bundle: Path, program: Program | None, module: Callable[[Kernel], Path | None]) -> KernelCode | None:
    kernel = program.kernel if program else None
    compiled = module(kernel) if kernel else None
    if kernel is None or compiled is None:
        return None
    prologue, epilogue = (bundle / path if path else None for path in (kernel.prologue, kernel.epilogue))
    host = bundle / program.host.binary if program and program.host else None
    return KernelCode(kernel, compiled, prologue, _number_fold(program), epilogue, host)


def _number_fold(program: Program | None) -> Fold | None:
    """A fold whose output has the form of its input, number for number."""
    region = program.region if program else None
    fold, pairs = (region.fold, region.pairs) if region else (None, None)
    if fold is None or pairs is None or pairs.between != fold.between:
        return None
    return fold if pairs.value == tuple(field.value for field in fold.fields) else None


class NativeDevice:
    """One device; it runs one map task at a time, with the `options` of the moment. Close it when done."""

    NAME: ClassVar[str]

    def __init__(
        self, native: Native, runtime: Path, options: DeviceOptions | None = None, *, ordinal: int = 0,
        library: Path | None = None,
    ) -> None:
        """`runtime`: HeteroDoop's own kernels for this device; `library`: what drives it, None = the native runtime does.

        Raises ToolError HD512 for a native runtime without device calls, DeviceError HD413 where it cannot be opened.
        """
        abi.declare(native.library)
        self.options = options or DeviceOptions()
        self._native = native
        self._runtime = runtime
        self._failed = False
        error = ctypes.create_string_buffer(abi.ERROR_BYTES)
        path = c_bytes(library) if library else None
        self._handle = native.library.hd_device_open(self.NAME.encode(), ordinal, path, error, len(error))
        if not self._handle:
            why = error.value.decode("utf-8", "backslashreplace")
            raise DeviceError(f"the {self.NAME} device cannot be opened: {why}", code="HD413")

    @property
    def name(self) -> str:
        return self.NAME

    @property
    def usable(self) -> bool:
        return bool(self._handle) and not self._failed

    def map_task(
        self, spec: MapSpec, map: KernelCall, combine: KernelCall | None, progress: Progress | None = None,
    ) -> TaskResult:
        """Run one map task; status RUN_ON_CPU or DEVICE_FAILED where it could not do so exactly."""
        task, first = map_block(spec), _kernel_block(map)
        second = _kernel_block(combine) if combine else None
        options = self._options_block(combine, map.code.kernel.plan)
        blocks = [ctypes.byref(block) if block is not None else None for block in (task, first, second, options)]
        function = self._native.library.hd_gpu_map_task
        result = self._native.call(lambda seen, result: function(self._handle, *blocks, seen, result), progress)
        self._failed |= result.status is TaskStatus.DEVICE_FAILED
        return result

    def probe(self) -> None:
        """Let it do work whose results are known. Raises DeviceError HD415: it fails at that, and must be closed."""
        error = ctypes.create_string_buffer(abi.ERROR_BYTES)
        if self._native.library.hd_device_probe(self._handle, error, len(error)):
            why = error.value.decode("utf-8", "backslashreplace")
            raise DeviceError(f"the {self.NAME} device does not work: {why}", code="HD415")

    def stats(self) -> dict[str, int]:
        """What its tasks did, all together: sub_splits, retries, ... (hd_gpu_stats says what each counts)."""
        block = abi.StatsBlock()
        self._native.library.hd_device_stats(self._handle, ctypes.byref(block))
        return {name: int(getattr(block, name)) for name in abi.STATS}

    def close(self) -> None:
        if self._handle:
            self._native.library.hd_device_close(self._handle)
            self._handle = None

    def _options_block(self, combine: KernelCall | None, plan: KernelPlan) -> abi.OptionsBlock:
        loop = combine.code.kernel if combine and combine.code.ordered else None
        chosen, fold = self.options, combine is not None and loop is None
        return abi.OptionsBlock(
            sub_split_bytes=chosen.sub_split, arena_bytes=chosen.arena, fold=fold, regroup=fold,
            emu_order=abi.ORDERS.index(chosen.order), emu_pattern=chosen.pattern, emu_seed=chosen.seed,
            emu_memory=chosen.memory, runtime_module=c_bytes(self._runtime),
            record_order=plan.records == "as-read",
            sort_kind=abi.MERGE_SORT if plan.sort == "merge" else abi.RADIX_SORT,
            hash_fold=_hash_fold(combine.code) if combine and fold else 0, ordered=loop is not None,
            ordered_values=loop.numbers if loop else 0, ordered_states=loop.kept if loop else 0,
            ingest_threads=chosen.ingest_threads, workers=chosen.workers, sessions=chosen.sessions,
            write_threads=chosen.write_threads, keep_percent=chosen.keep,
            memory_mib=max(1, chosen.limit // _MIB) if chosen.limit else 0,
        )


class EmulatedDevice(NativeDevice):
    """Kernels on the CPU; opened without a library of its own, `options` say how lanes run."""

    NAME = "emulated"


class CudaDevice(NativeDevice):
    """A GPU, by the driver's number; `library` is libhd_cuda, `runtime` HeteroDoop's kernels for its architecture."""

    NAME = "cuda"


def _stack(frames: int) -> int:
    """The compiler counts a recursive function's variables; what ptxas saves besides, and calls from there, come on top."""
    return min(2 * frames + _STACK_MARGIN, _LARGEST_STACK) if frames else 0


def _hash_fold(code: KernelCode) -> int:
    """The operation of each field, four bits a field; 0 where tables do not do all of them."""
    fields = code.fold.fields if code.fold and code.kernel.plan.fold == "hash" else ()
    ops = [abi.HASH_FOLDS.get(field.op, 0) for field in fields]
    return sum(op << 4 * number for number, op in enumerate(ops)) if all(ops) else 0


def _flags(plan: KernelPlan) -> int:
    areas, one = abi.SCAN_AREAS if plan.areas == "scan" else 0, abi.ONE_PER_WARP if plan.one_per_warp else 0
    return areas | one | (abi.MAP_FOLD if plan.map_fold else 0)


def _kernel_block(call: KernelCall) -> abi.KernelBlock:
    """`call` must outlive it: the bytes of its live-ins are not copied."""
    kernel, live = call.code.kernel, call.live_ins
    relocations = [abi.RelocationBlock(r.object, abi.TEXELS[r.texel], r.at, r.delta) for r in live.relocations]
    return abi.KernelBlock(
        module=c_bytes(call.code.module), entry=kernel.entry.encode(), threads=kernel.threads, blocks=kernel.blocks,
        shared=_blob(live.shared), objects=(abi.Blob * len(live.objects))(*map(_blob, live.objects)),
        n_objects=len(live.objects), relocations=(abi.RelocationBlock * len(relocations))(*relocations),
        n_relocations=len(relocations), kvpairs=kernel.kvpairs, sink=abi.SINKS[kernel.plan.sink],
        key_bytes=kernel.key_bytes, value_bytes=kernel.value_bytes, flags=_flags(kernel.plan),
        stack_bytes=_stack(kernel.stack_bytes), totals=_blob(nothing_gathered(kernel)),
        epilogue=command_block(call.epilogue) if call.epilogue else Command(),
    )


def _blob(data: bytes) -> abi.Blob:
    return abi.Blob(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))
