"""`heterodoop run`: a job through the embedded engine, run as any job (`execute`). `compiled` compiles an app first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import manifest
from ..engine.job import device_names
from ..engine.run.plan import RunOptions
from ..engine.runner import LocalRunner
from ..executor.gpu import gpus
from ..job.spec import JobSpec
from ..job.stopping import IterateOptions
from ..scheduler.policies import CPU_ONLY
from ..toolchain import languages
from .execute import Show, execute, shown_to

if TYPE_CHECKING:
    from ..engine.devices.devices import DeviceSource


def run(
    bundle: Path, inputs: tuple[str, ...], output: str, again: IterateOptions | None, *, show: Show, as_json: bool,
    quiet: bool,
    devices: DeviceSource | None, **options: Any,
) -> None:
    """Run the job; print its report with `as_json`, else where the result lies. Raises as `LocalRunner.run`."""
    given = RunOptions(**options)
    shown = shown_to(show, quiet=quiet or as_json, as_json=as_json)
    execute(LocalRunner(given, devices), JobSpec.of(bundle, inputs, output, given, again), shown, as_json=as_json)


def may_use_device(options: Mapping[str, Any]) -> bool:
    """Whether a job with these options needs what knows devices."""
    if options["device"] == device_names.AUTO and options.get("gpus") == gpus.NONE:
        return False
    return device_names.may_use_device(options["device"])


def may_use_gpu(options: Mapping[str, Any]) -> bool:
    """Whether an app that is compiled for a job with these options gets kernels for this machine's GPUs."""
    no_gpu = options["device"] in (device_names.CPU, device_names.EMULATED) or options.get("policy") == CPU_ONLY.name
    return not no_gpu and may_use_device(options)


def needs_compiling(name: str) -> bool:
    """Whether `name` is an app's folder or a file of C or C++ and not a bundle."""
    path = Path(name)
    return (path.is_file() or bool(languages.programs(path, "map"))) and not (path / manifest.FILE).is_file()
