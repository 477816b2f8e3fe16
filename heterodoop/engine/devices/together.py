"""How many splits a map task may have at most: several only where no byte of the output can be another one.

On a GPU these are neighbours in a file, as a host kernel small files.

A map output of several splits has what theirs have, merged in their order; with a combiner it has less, since that meets the
values of all of them. Then the reducer must make the same of less (decision 0033). Not here: how many a task gets
(scheduler/several.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...executor.task.split import Split
from ...job import regroup
from ...job.jobconf import JobConf
from ...job.settings import SPLITS
from ...manifest import Manifest
from ...scheduler.several import NO_SMALL, Several, Small
from ..job.device_names import EMULATED

if TYPE_CHECKING:
    from .devices import DevicePlan

MOST = 8  # of a GPU's task, where the job does not say: more of them save little
FOLDED_BYTES = 1 << 30  # of such a task, whose pairs meet in tables
SMALL_BYTES = 4 << 20  # of small files in one task: as much as the shortest split of a large file (executor/task/split.py)
SORTED_BYTES = 256 << 20  # of other tasks: larger ones are sorted in several runs, which the host merges


class Together(NamedTuple):
    """most: splits of a task; 1: each has its own. nbytes: of a task's input at most. why: there are not more."""

    most: int = 1
    nbytes: int = 0
    why: str = ""

    def several(self, splits: Sequence[Split]) -> Several:
        """For the scheduler, of a job's splits."""
        return Several(self.most, self.nbytes, lambda number: _follows(splits[number - 1], splits[number]))


def _follows(before: Split, split: Split) -> bool:
    return before.length > 0 and before.file == split.file and before.start + before.length == split.start


def together(found: Manifest, conf: JobConf, reducers: int, offload: DevicePlan | None) -> Together:
    """Of a job of the bundle `found` whose map tasks run on `offload`."""
    if offload is None:
        return Together()
    emulated = not offload.gpus or EMULATED in (gpu.name for gpu in offload.gpus)
    most: int = conf.get(SPLITS) or (1 if emulated else MOST)
    if most < 2:
        return Together()
    why = _of_the_job(conf, reducers, offload) or regroup.of_the_map(found) or regroup.of_the_combiner(found)
    combine = found.program("combine")
    folds = combine is not None and combine.kernel is not None and combine.kernel.plan.fold == "hash"
    return Together(why=why) if why else Together(most, FOLDED_BYTES if folds else SORTED_BYTES)


def small_files(found: Manifest, conf: JobConf, reducers: int, splits: Sequence[Split]) -> Small:
    """Which files a map task as a host kernel may have, of a job of the bundle `found` whose map tasks have one."""
    if regroup.of_records(conf, reducers) or regroup.of_the_map(found) or regroup.of_the_combiner(found):
        return NO_SMALL
    return Small(SMALL_BYTES, lambda number: _whole(splits[number - 1]) and _whole(splits[number]))


def _whole(split: Split) -> bool:
    return not split.piped and split.start == 0 and split.length == split.file.size < SMALL_BYTES


def _of_the_job(conf: JobConf, reducers: int, offload: DevicePlan) -> str:
    if offload.options.keep:
        return "the input of each split stays on the GPU for the next round"
    if offload.check != "none":
        return "results are compared split by split"
    return regroup.of_records(conf, reducers)
