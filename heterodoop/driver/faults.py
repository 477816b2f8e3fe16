"""Faults on purpose, for tests only: $HETERODOOP_DRIVER_FAULT of the driver's own environment, KIND[@MOMENT][*COUNT].

KIND     cut: the connection closes. die: the driver is killed. error: the task is refused. corrupt: a byte of the result's
         data is another one. hang: nothing more is said for an hour.
MOMENT   offer, answer, run, queued, running, result (before it), data (in the middle of its bytes), sent (after it).
         Default: data for cut and corrupt, running for the others.
COUNT    how often; without it always.
Several are separated by commas. Nothing of this can be reached by a job.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Mapping
from threading import Lock

from ..errors import UsageError
from .job.offer import Declined
from .wire.protocol import Closed

VARIABLE = "HETERODOOP_DRIVER_FAULT"
MOMENTS = ("offer", "answer", "run", "queued", "running", "result", "data", "sent")
KINDS = ("cut", "die", "error", "corrupt", "hang")
_RULE = re.compile(rf"({'|'.join(KINDS)})(?:@({'|'.join(MOMENTS)}))?(?:\*([0-9]{{1,6}}))?")
_HANG_SECONDS = 3600.0


class Faults:
    """The faults that were asked for; usually none."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        """Raises UsageError HD614: the variable does not say a fault."""
        self._left: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        self.silent = False  # nothing more is said
        for word in filter(None, environ.get(VARIABLE, "").split(",")):
            found = _RULE.fullmatch(word.strip())
            if not found:
                raise UsageError(f"{VARIABLE}={word!r}: must be KIND@MOMENT*COUNT", code="HD614")
            kind = found[1]
            moment = found[2] or ("data" if kind in ("cut", "corrupt") else "running")
            self._left[kind, moment] = int(found[3]) if found[3] else -1

    def __bool__(self) -> bool:
        return bool(self._left)

    def at(self, moment: str) -> None:
        """What was asked for at this moment happens. Raises Closed, Declined."""
        if not self._left:
            return
        if self._takes("die", moment):
            os.kill(os.getpid(), signal.SIGKILL)
        if self._takes("hang", moment):
            self.silent = True
            time.sleep(_HANG_SECONDS)
        if self._takes("cut", moment):
            raise Closed("cut on purpose")
        if self._takes("error", moment):
            raise Declined("refused on purpose", "HD619")

    def corrupts(self) -> bool:
        """Whether this result's data is to be damaged."""
        return self._takes("corrupt", "data")

    def in_data(self) -> bool:
        """Whether something is to happen in the middle of the data."""
        return any(moment == "data" and kind != "corrupt" and left for (kind, moment), left in self._left.items())

    def _takes(self, kind: str, moment: str) -> bool:
        with self._lock:
            left = self._left.get((kind, moment), 0)
            if left > 0:
                self._left[kind, moment] = left - 1
            return left != 0
