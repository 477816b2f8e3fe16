"""Which jobs may have map tasks of several splits: those of whose output no byte could be another one.

A map output of several splits has what theirs have, merged in their order; with a combiner it has less, since that meets the
values of all of them. Then the reducer must make the same of less (decision 0033). Each function says why not, "" where it
may be. Not here: how many splits (scheduler/several.py; under Hadoop runtime/hadoop, Grouping).
"""

from __future__ import annotations

import re

from ..manifest import Manifest, Program, Reducer, Region
from .jobconf import JobConf
from .settings import RECORD_DELIMITER

# Variables of a filter's environment that are a task's own: of its split, its number, its container.
_OF_A_TASK = re.compile(
    r"(mapreduce|mapred)_(task|tip|work|map_input|job_maps|map_tasks|local_dir|job_local_dir)(_.*)?|map_input_.*"
    r"|CONTAINER_ID|PWD|OLDPWD|TMPDIR|(LOCAL|LOG|LOCAL_USER)_DIRS|NM_.*|JVM_PID|HADOOP_(TOKEN_FILE_LOCATION|WORK_DIR)|STDERR_.*",
)


def of_records(conf: JobConf, reducers: int) -> str:
    if not reducers:
        return "without reduce tasks each split has an output file"
    if conf.skip_from or conf.get(RECORD_DELIMITER):
        return "where records begin and end is not only for line ends to say"
    return ""


def of_the_map(found: Manifest) -> str:
    program = found.program("map")
    kernel = program.kernel if program else None
    if kernel is None:
        return "the map has no kernel"
    if kernel.epilogue:
        return "the code behind the map's loop prints for each split"
    if kernel.prologue_runs == "each":
        return "the code before the map's loop runs for each split"
    return ""


def of_the_combiner(found: Manifest) -> str:
    combine = found.program("combine")
    if combine is None:
        return ""
    region, reduce = combine.region, found.program("reduce")
    if region is None or region.fold is None or not region.fold.regroup:
        return "the combiner is no fold of integers, so that what it prints depends on what it meets"
    if combine.kernel and combine.kernel.prologue_runs == "each":
        return "the code before the combiner's loop runs for each split"
    if not _takes_less(region, reduce):
        return "the reducer is not known to make the same of what was combined over several splits"
    return ""


def _takes_less(region: Region, program: Program | None) -> bool:
    """Does the reducer read what the combiner prints as the combiner does, and keep of it only what the fold keeps?"""
    reducer: Reducer | None = program.reducer if program else None
    if reducer is None or reducer.loop != "fold" or region.fold is None or region.pairs != reducer.pairs:
        return False
    fields = region.fold.fields
    if tuple(field.value for field in fields) != reducer.pairs.value:
        return False
    return all(0 <= kept.place < len(fields) and kept.op == fields[kept.place].op for kept in reducer.kept)


def of_the_environment(found: Manifest) -> str:
    """Of map and combiner as filters, whose environment is that of one task whatever it does."""
    for role in ("map", "combine"):
        program = found.program(role)
        if program is None:
            continue
        if program.kernel is None or program.kernel.asks is None:
            return f"what the {role} program asks of its environment is not known before it runs"
        if own := next(filter(_OF_A_TASK.fullmatch, program.kernel.asks), ""):
            return f"the {role} program asks for {own}, which is the task's own"
    return ""
