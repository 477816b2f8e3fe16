"""What the user sees while a job runs: a bar on a terminal, a line now and then elsewhere, or nothing.

A display never stops a job: a stream that is closed or breaks makes it silent.
"""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol, TextIO

LINE_SECONDS = 5.0


class Snapshot(NamedTuple):
    """The state of a job. Bytes are of input: read, and in all (a compressed file counts as on disk).

    on_device  map tasks that a device did, of those done; None where the job uses none. `device`: its name.
    """

    phase: str
    maps_done: int
    maps: int
    reduces_done: int
    reduces: int
    failed: int
    bytes_done: int
    bytes_total: int
    on_device: int | None = None
    device: str = ""

    @property
    def fraction(self) -> float:
        """Of the current phase."""
        if self.phase == "map":
            done, total = (self.bytes_done, self.bytes_total) if self.bytes_total else (self.maps_done, self.maps)
        else:
            done, total = self.reduces_done, self.reduces
        return min(1.0, done / total) if total else 1.0

    def __str__(self) -> str:
        text = f"map {self.maps_done}/{self.maps}"
        if self.on_device is not None:
            text += f" ({self.on_device} {self.device}, {self.maps_done - self.on_device} CPU)"
        if self.reduces:
            text += f", reduce {self.reduces_done}/{self.reduces}"
        return text + (f", {self.failed} failed attempts" if self.failed else "")


class Display(Protocol):
    def due(self) -> bool:
        """Whether it is time for another `show`: taking a snapshot is not free."""
        ...

    def show(self, snapshot: Snapshot) -> None: ...

    def close(self) -> None: ...


def make_display(stream: TextIO, *, quiet: bool) -> Display:
    """The display that suits the stream."""
    if quiet:
        return NoProgress()
    try:
        terminal = stream.isatty()
    except ValueError:  # closed
        return NoProgress()
    if not terminal:
        return LineProgress(stream)
    from .progress_bar import ProgressBars  # here, since its library takes longer to load than a small job to run

    return ProgressBars(stream)


class NoProgress:
    def due(self) -> bool:
        return False

    def show(self, snapshot: Snapshot) -> None:
        pass

    def close(self) -> None:
        pass


class Paced:
    """Shows at most once in `seconds`; falls silent when its stream breaks."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = 0.0
        self._broken = False

    def due(self) -> bool:
        return not self._broken and time.monotonic() >= self._next

    def show(self, snapshot: Snapshot) -> None:
        self._next = time.monotonic() + self._seconds
        try:
            self._draw(snapshot)
        except (OSError, ValueError):  # BrokenPipeError, closed file
            self._broken = True

    def close(self) -> None:
        try:
            self._end()
        except (OSError, ValueError):
            self._broken = True

    def _draw(self, snapshot: Snapshot) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError


class LineProgress(Paced):
    """A line at most every few seconds, and none for a job that is over before the first."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(LINE_SECONDS)
        self._stream = stream
        self._next = time.monotonic() + LINE_SECONDS

    def _draw(self, snapshot: Snapshot) -> None:
        self._stream.write(f"heterodoop: {snapshot} ({snapshot.phase} {snapshot.fraction:.0%})\n")
        self._stream.flush()

    def _end(self) -> None:
        pass
