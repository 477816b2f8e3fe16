"""The end of a job of a cluster: for programs (`submit --json`) and for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import plugin_counters
from .follow import HADOOPS, JobEnded
from .logs import Cause
from .plugin_counters import CPU_MAPS, EMULATED_MAPS, GPU_MAPS, GROUPED_SPLITS, HOST_KERNEL_MAPS

FORMAT = "heterodoop-job-1"
# Hadoop counts some sixty things; these tell a person what the job did. `heterodoop job counters` has all.
_SHOWN = (
    "MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "COMBINE_OUTPUT_RECORDS", "SPILLED_RECORDS",
    "REDUCE_SHUFFLE_BYTES", "REDUCE_INPUT_GROUPS", "REDUCE_INPUT_RECORDS", "REDUCE_OUTPUT_RECORDS",
)


def report(end: JobEnded, output: str, cause: Cause | None) -> dict[str, Any]:
    """The end of a job, for programs. None: nobody knows."""
    found: dict[str, Any] = {
        "format": FORMAT, "job": end.job, "state": end.state, "seconds": end.seconds, "maps": end.maps,
        "reduces": end.reduces, "gpu_maps": end.maps_on(GPU_MAPS), "cpu_maps": end.maps_on(CPU_MAPS),
        "emulated_maps": end.maps_on(EMULATED_MAPS), "host_kernel_maps": end.maps_on(HOST_KERNEL_MAPS),
        "reasons": plugin_counters.reasons(end.plugin),
        "grouped_splits": end.maps_on(GROUPED_SPLITS), "uber": end.uber, "failed_attempts": end.failed_attempts,
        "output": output, "counters": end.counters or None,
    }
    if cause:
        attempt = cause.attempt
        found["cause"] = {
            "error": cause.what, "code": cause.known.code if cause.known else "", "attempt": attempt.id if attempt else "",
            "node": attempt.node if attempt else "", "split": cause.split, "command": cause.command, "stderr": cause.stderr,
        }
    return found


def summary(end: JobEnded, sentences: Mapping[str, str]) -> list[str]:
    """A job that succeeded, for people: tasks, why some left the GPU (`plugin_counters.told`), then counters."""
    sides = f" ({plugin_counters.sides(end.plugin)})" if end.plugin else ""
    if splits := end.plugin.get(GROUPED_SPLITS):
        sides += f", {splits} splits in maps of several"
    tasks = "" if end.maps is None else f": {end.maps} maps{sides}, {end.reduces} reduces"
    where = ", in its application master" if end.uber else ""
    lines = [f"{end.job} succeeded in {end.seconds:.0f} s{where}{tasks}", *plugin_counters.told(end.plugin, sentences)]
    rows = [(name, value) for group in end.counters.values() for name, value in group.items() if name in _SHOWN and value]
    for group, counters in end.counters.items():
        if group != plugin_counters.GROUP and not group.startswith(HADOOPS):
            rows += [(f"{group}: {name}", value) for name, value in counters.items()]
    width = max((len(name) for name, _ in rows), default=0)
    return lines + [f"  {name:{width}}  {value:>14,}" for name, value in rows]
