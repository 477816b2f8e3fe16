"""One map task on either side, and that both left the same. Not a test module."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterodoop.executor.native.runtime import FilterCommand, MapSpec, TaskResult, TaskStatus

from .gpu_programs import Kernel

MAP_COUNTERS = ("MAP_INPUT_RECORDS", "MAP_INPUT_BYTES", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "UNREADABLE_PAIRS")
ALL_COUNTERS = (*MAP_COUNTERS, "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS", "SPILLED_RECORDS", "SPILLS",
                "MAP_OUTPUT_MATERIALIZED_BYTES")


@dataclass(frozen=True)
class Written:
    """What a task left: its result, its output file and index (None: there is none), its log."""

    result: TaskResult
    out: Path
    data: bytes | None
    index: bytes | None
    log: bytes


Run = Callable[..., Written]  # the fixtures on_device and on_cpu


def task(side: str, folder: Path, data: bytes, filters: dict[str, str], map: Kernel, combine: Kernel | None,
         **fields: Any) -> MapSpec:
    source, out, work = folder / "input", folder / f"{side}.out", folder / f"{side}.work"
    source.write_bytes(data)
    work.mkdir(exist_ok=True)
    for path in (out, Path(f"{out}.index"), folder / f"{side}.log"):
        path.unlink(missing_ok=True)
    usual: dict[str, Any] = {
        "input": source, "out_path": out, "index_path": f"{out}.index", "work_dir": work, "log_path": folder / f"{side}.log",
        "reducers": 2, "regroup": combine is not None,
        "combine": FilterCommand([filters.get(combine.entry, "/bin/cat")]) if combine else None,
    }
    return MapSpec(FilterCommand([filters.get(map.entry, "/bin/false")]), **usual | fields)


def written(spec: MapSpec, result: TaskResult) -> Written:
    out, index, log = (Path(os.fsdecode(path)) for path in (spec.out_path, spec.index_path, spec.log_path))
    assert not os.listdir(spec.work_dir), "spills are removed"
    assert not list(out.parent.glob("*.tmp")), "no unfinished file is left"
    return Written(result, out, *(path.read_bytes() if path.exists() else None for path in (out, index)),
                   log.read_bytes() if log.exists() else b"")


def same(ours: Written, theirs: Written, counters: tuple[str, ...] = ALL_COUNTERS) -> None:
    assert (ours.result.status, ours.result.message) == (TaskStatus.OK, "")
    assert theirs.result.status is TaskStatus.OK
    assert (ours.data, ours.index, ours.log) == (theirs.data, theirs.index, theirs.log)
    assert {c: ours.result.counters[c] for c in counters} == {c: theirs.result.counters[c] for c in counters}
    assert ours.result.user_counters == theirs.result.user_counters
