"""The progress bar of a terminal."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from .progress import Paced, Snapshot

BAR_SECONDS = 0.1


class ProgressBars(Paced):
    """One bar per phase, redrawn in place; gone when the job ends."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(BAR_SECONDS)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=Console(file=stream), auto_refresh=False, transient=True)
        self._task = self._progress.add_task("map", total=1.0)
        self._started = False

    def _draw(self, snapshot: Snapshot) -> None:
        if not self._started:
            self._progress.start()
            self._started = True
        self._progress.update(self._task, description=str(snapshot), completed=snapshot.fraction)
        self._progress.refresh()

    def _end(self) -> None:
        if self._started:
            self._progress.stop()
