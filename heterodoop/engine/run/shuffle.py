"""From map outputs to the segments that a reduce task merges."""

from __future__ import annotations

import contextlib
import os

from ...errors import HeteroDoopError
from ...executor.native.runtime import Native, Progress, Segment
from ...executor.task.map_output import MapOutput


class Shuffle:
    """The committed map outputs of a job, in map task order whatever order they came in.

    Outputs without a pair are dropped at once, so that many tiny splits cost the reducers nothing.
    """

    def __init__(self) -> None:
        self._outputs: dict[int, MapOutput] = {}

    def add(self, task: int, output: MapOutput) -> None:
        """Take in a map task's output; its files are removed where it is empty, those of one that was damaged too."""
        if earlier := self._outputs.get(task):
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
        return tuple(task for task, output in named if not progress.cancelled and not _whole(output, partitions, native))


def _whole(output: MapOutput, partitions: int, native: Native) -> bool:
    try:
        for partition in range(partitions):
            output.segment(partition)
        native.check_map_output(output.data, output.index, partitions)
    except (OSError, HeteroDoopError):
        return False
    return True
