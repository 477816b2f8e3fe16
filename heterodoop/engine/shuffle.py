"""From map outputs to the segments that a reduce task merges."""

from __future__ import annotations

import os

from ..executor.map_output import MapOutput
from ..executor.native import Segment


class Shuffle:
    """The committed map outputs of a job, in map task order whatever order they came in.

    Outputs without a pair are dropped at once, so that many tiny splits cost the reducers nothing.
    """

    def __init__(self) -> None:
        self._outputs: dict[int, MapOutput] = {}

    def add(self, task: int, output: MapOutput) -> None:
        """Take in a map task's output; its files are removed where it is empty."""
        if output.empty:
            os.unlink(output.data)
            os.unlink(output.index)
        else:
            self._outputs[task] = output

    def segments(self, partition: int) -> list[Segment]:
        """The non-empty segments of one partition, in map task order. Raises OSError, HeteroDoopError HD405."""
        found = (output.segment(partition) for _, output in sorted(self._outputs.items()))
        return [segment for segment in found if not segment.empty]
