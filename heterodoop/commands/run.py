"""`heterodoop run`: a bundle through the embedded engine, then what to tell the user. `compiled` compiles an app first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import manifest
from ..diag import Diagnostic
from ..engine.devices import map_sides
from ..engine.job import device_names
from ..engine.run.local import JobResult, run_local
from ..engine.run.plan import RunOptions
from ..executor.gpu import gpus
from ..scheduler.policies import CPU_ONLY

if TYPE_CHECKING:
    from ..engine.devices.devices import DeviceSource

Show = Callable[[list[Diagnostic]], None]


def run(
    bundle: Path, inputs: tuple[str, ...], output: str, *, show: Show, as_json: bool, quiet: bool,
    devices: DeviceSource | None, **options: Any,
) -> None:
    """Run the job; print its report with `as_json`, else where the result lies. Raises as `run_local`."""
    result = run_local(bundle, inputs, output, RunOptions(quiet=quiet or as_json, **options), devices=devices)
    show(list(result.warnings))
    if as_json:
        click.echo(json.dumps(result.report, indent=1))
    elif not quiet:
        for line in [*map_sides.lines(result.report), _summary(result)]:
            click.echo(line, err=True)


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
    """Whether `name` is an app's folder or a C file and not a bundle."""
    path = Path(name)
    return (path.is_file() or (path / "map.c").is_file()) and not (path / manifest.FILE).is_file()


def _summary(result: JobResult) -> str:
    return f"result in {result.output}, report in {result.report_folder}"
