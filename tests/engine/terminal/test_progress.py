"""What is shown while a job runs, on what kind of stream."""

from __future__ import annotations

import io
import os
import pty
import select

import pytest

from heterodoop.engine.terminal import progress
from heterodoop.engine.terminal.progress import LineProgress, NoProgress, Snapshot, make_display
from heterodoop.engine.terminal.progress_bar import ProgressBars

HALF = Snapshot("map", 1, 4, 0, 2, 0, 50, 100)


def test_a_snapshot_as_text_and_as_a_fraction():
    assert str(HALF) == "map 1/4, reduce 0/2" and HALF.fraction == 0.5
    assert str(HALF._replace(reduces=0, failed=3)) == "map 1/4, 3 failed attempts"
    mixed = HALF._replace(maps_done=3, on_device=2, device="GPU")
    assert str(mixed) == "map 3/4 (2 GPU, 1 CPU), reduce 0/2"
    assert HALF._replace(phase="reduce", reduces_done=1).fraction == 0.5
    assert HALF._replace(bytes_total=0).fraction == 0.25
    assert HALF._replace(bytes_total=0, maps=0).fraction == 1.0
    assert HALF._replace(bytes_done=500).fraction == 1.0, "a compressed file gives more bytes than it has"


def test_nothing_when_quiet_or_closed():
    assert isinstance(make_display(io.StringIO(), quiet=True), NoProgress)
    closed = io.StringIO()
    closed.close()
    silent = make_display(closed, quiet=False)
    assert isinstance(silent, NoProgress) and not silent.due()
    silent.show(HALF)
    silent.close()


def test_lines_come_at_most_every_few_seconds(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = make_display(stream, quiet=False)
    assert isinstance(lines, LineProgress) and not lines.due(), "a short job says nothing"
    now[0] += progress.LINE_SECONDS
    assert lines.due()
    lines.show(HALF)
    assert not lines.due() and stream.getvalue() == "heterodoop: map 1/4, reduce 0/2 (map 50%)\n"


def test_a_stream_that_breaks_makes_the_display_silent():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(os.dup(writer), "w") as stream:
        lines = LineProgress(stream)
        lines._next = 0.0
        assert lines.due()
        lines.show(HALF)
        assert not lines.due()
        lines.close()
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    os.close(writer)


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress.time, "monotonic", lambda: 100.0)  # a busy machine takes longer than BAR_SECONDS to draw
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        bar = make_display(terminal, quiet=False)
        assert isinstance(bar, ProgressBars) and bar.due()
        bar.show(HALF)
        assert not bar.due()
        bar.close()
        shown = b""
        while select.select([ours], [], [], 0.2)[0]:  # a terminal gives what it has in pieces
            shown += os.read(ours, 65536)
    os.close(ours)
    assert b"map 1/4, reduce 0/2" in shown and b"50%" in shown
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l"), "the cursor is back"
