"""A device for the engine's tests: it runs another filter in the kernel's place, or answers what a test wants.

Not a test module. `install` puts it where the engine opens emulated devices; no kernel is compiled.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pytest

from heterodoop.engine.devices import devices
from heterodoop.executor import device_pool
from heterodoop.executor.kernel import emulated
from heterodoop.executor.kernel.emulated import DeviceOptions
from heterodoop.executor.kernel.gpu_task import KernelCall
from heterodoop.executor.native.runtime import MapSpec, Native, Progress, TaskResult, TaskStatus
from heterodoop.kernel_plan import KernelPlan
from heterodoop.manifest import FILE, Kernel, sha256

STATS = {"sub_splits": 1, "retries": 0}


@dataclass
class Behaviour:
    """What the fake does with a task. `program`: the filter in the kernel's place, by the device's options."""

    program: Callable[[DeviceOptions], Path | None] = lambda options: None
    combine: Path | None = None
    answer: Callable[[MapSpec], TaskStatus] = lambda spec: TaskStatus.OK
    message: str = "exit_called in record 3, line 9"
    tasks: list[tuple[MapSpec, KernelCall, KernelCall | None, DeviceOptions]] = field(default_factory=list)
    closed: int = 0


def install(monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour) -> None:
    class FakeDevice:
        name = "emulated"
        usable = True
        options = DeviceOptions()

        def __init__(self, native: Native, runtime: Path) -> None:
            self._native = native

        def map_task(
            self, spec: MapSpec, map: KernelCall, combine: KernelCall | None, progress: Progress | None,
        ) -> TaskResult:
            behaviour.tasks.append((spec, map, combine, self.options))
            other = behaviour.program(self.options)
            run = replace(spec, map=replace(spec.map, argv=[other])) if other else spec
            if behaviour.combine and spec.combine:
                run = replace(run, combine=replace(spec.combine, argv=[behaviour.combine]))
            result = self._native.map_task(run, progress)
            status = behaviour.answer(spec)
            self.usable = self.usable and status is not TaskStatus.DEVICE_FAILED
            return result if status is TaskStatus.OK else replace(result, status=status, message=behaviour.message)

        def stats(self) -> dict[str, int]:
            return STATS

        def close(self) -> None:
            behaviour.closed += 1

    monkeypatch.setattr(device_pool, "EmulatedDevice", FakeDevice)
    monkeypatch.setattr(emulated.emulated, "emulated_module", lambda source, cache=None: source.with_suffix(".so"))
    monkeypatch.setattr(devices, "runtime_module", lambda: Path("/runtime.so"))


def with_kernel(bundle: Path) -> Path:
    """The bundle, its map (and combiner) with a kernel's description."""
    (bundle / "cuda").mkdir()
    data = json.loads((bundle / FILE).read_text())
    for program in data["programs"]:
        if program["role"] == "reduce":
            continue
        path = f"cuda/{program['role']}.cu"
        (bundle / path).write_text("// text\n")
        kernel = Kernel(path, f"hd_{program['role']}", 128, 0, 0, 0, 0, 1, 0, (), "", "once", KernelPlan(), ())
        program["kernel"] = asdict(kernel)
        data["binaries"].append({"path": path, "sha256": sha256(bundle / path)})
    (bundle / FILE).write_text(json.dumps(data))
    return bundle
