"""What a driver says of itself: a log, one JSON object per line, in a file that is rotated and, in the
foreground, on stderr; and how often what happened.

Not here: what a task wrote, which goes into the attempt's own log.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Lock

_BYTES, _FILES = 8 << 20, 4


class Log:
    """Any thread may use it; a log that cannot be written stops nobody. Without file and stderr nothing is kept.

    counts  by what was counted.
    """

    def __init__(self, path: Path | None = None, foreground: bool = False) -> None:
        """Raises OSError: the file cannot be opened."""
        self.counts: Counter[str] = Counter()
        self._lock = Lock()
        self._logger = logging.Logger("heterodoop")
        self._logger.propagate = False
        if path:
            file = logging.handlers.RotatingFileHandler(path, maxBytes=_BYTES, backupCount=_FILES, encoding="utf-8")
            self._logger.addHandler(file)
        if foreground:
            self._logger.addHandler(logging.StreamHandler(sys.stderr))
        for handler in self._logger.handlers:
            handler.setFormatter(logging.Formatter("%(message)s"))
            handler.handleError = lambda record: None  # type: ignore[method-assign]

    def event(self, event: str, **fields: object) -> None:
        """Something happened; fields without a value are left out."""
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
        row = {"time": stamp, "event": event, **{name: value for name, value in fields.items() if value not in ("", None)}}
        self._logger.info(json.dumps(row, default=str))

    def count(self, what: str) -> None:
        """It happened once more."""
        with self._lock:
            self.counts[what] += 1

    def close(self) -> None:
        for handler in self._logger.handlers:
            handler.close()
