"""From map outputs to the segments that a reduce task merges."""

from __future__ import annotations

import contextlib
import os

from ...errors import HeteroDoopError
from ...executor.native.runtime import Native, Progress, Segment
from ...executor.task.map_output import MapOutput


class Shuffle:
    """The committed map outputs of a job, in map task order whatever order they came in.

    One of several tasks is where that of the first one would be: what lies behind it in the file comes behind it here,
    and a merge of neighbours that is merged with the rest gives what merging all of them does.
    Outputs without a pair are dropped at once, so that many tiny splits cost the reducers nothing.
    """

    def __init__(self) -> None:
        self._outputs: dict[int, MapOutput] = {}
        self._tasks: dict[int, int] = {}  # of outputs of several tasks, how many

    def add(self, task: int, output: MapOutput, tasks: int = 1) -> None:
        """Take in the output of a map task, or of so many from it on; its files are removed where it is empty, those of one
        that was damaged too."""
        self._tasks.pop(task, None)
        if tasks > 1:
            self._tasks[task] = tasks
        if earlier := self._outputs.pop(task, None):
            for path in (earlier.data, earlier.index):
                with contextlib.suppress(OSError):
                    os.unlink(path)
        if output.empty:
            os.unlink(output.data)
            os.unlink(output.index)
        else:
            self._outputs[task] = output

    def segments(self, partition: int) -> list[Segment]:
        """The non-empty segments of one partition, in map task order. Raises OSError, HeteroDoopError HD405."""
        found = (output.segment(partition) for _, output in sorted(self._outputs.items()))
        return [segment for segment in found if not segment.empty]

    def damaged(self, said: str, partitions: int, native: Native, progress: Progress) -> tuple[int, ...]:
        """Map tasks whose output a message names and that is not what was committed."""
        named = [(task, out) for task, out in sorted(self._outputs.items()) if out.data in said or out.index in said]
        damaged = [task for task, output in named if not progress.cancelled and not _whole(output, partitions, native)]
        return tuple(number for task in damaged for number in range(task, task + self._tasks.get(task, 1)))


def _whole(output: MapOutput, partitions: int, native: Native) -> bool:
    try:
        for partition in range(partitions):
            output.segment(partition)
        native.check_map_output(output.data, output.index, partitions)
    except (OSError, HeteroDoopError):
        return False
    return True
