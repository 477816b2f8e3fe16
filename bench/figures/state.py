"""What was measured so far: a folder with a JSON file per app, each replaced as a whole whenever a measurement is done.

Not here: what is to be measured (steps.py), what the numbers say (bars.py, markdown.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT = "heterodoop-figures-1"
# Parts whose rows stand beside each other in one figure: they must be of one card.
FIGURES: Mapping[str, tuple[str, ...]] = {
    "Fig. 5 and 6": ("cpu", "task"), "Fig. 7": ("items",), "Fig. 4 and Table 2": ("job",), "the long line": ("long-line",),
}
Record = dict[str, Any]


class StateError(Exception):
    """The folder cannot be used; the message is for the user."""


@dataclass(frozen=True)
class State:
    """Records by app, part and name. A record has `card`, `date`, `took` (seconds) and what was measured, or `failed`.

    Only one process at a time may write an app's file.
    """

    folder: Path

    def records(self, app: str, part: str) -> dict[str, Record]:
        """Name -> record, in the order in which they were measured. Raises StateError for a file of something else."""
        return dict(self._load(app).get("parts", {}).get(part, {}))

    def put(self, app: str, part: str, name: str, record: Record) -> None:
        content = self._load(app) or {"format": FORMAT, "app": app, "parts": {}}
        content["parts"].setdefault(part, {})[name] = record
        self._write(app, content)

    def forget(self, app: str, part: str, names: Sequence[str] = ()) -> None:
        """Drop an app's measurements of a part, or some of them, so that they are made again."""
        content = self._load(app)
        kept = content.get("parts", {}).get(part, {})
        for name in names or list(kept):
            kept.pop(name, None)
        if content:
            self._write(app, content)

    def forget_failed(self, app: str, part: str) -> None:
        failed = [name for name, record in self.records(app, part).items() if "failed" in record]
        if failed:
            self.forget(app, part, failed)

    def apps(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def all(self, parts: Sequence[str]) -> Iterator[tuple[str, str, str, Record]]:
        """(app, part, name, record) of the parts, over all apps."""
        for app in self.apps():
            for part in parts:
                for name, record in self.records(app, part).items():
                    yield app, part, name, record

    def check_card(self, card: str, parts: Sequence[str]) -> None:
        """Raises StateError where a figure that `parts` belong to already has rows of another card than `card`."""
        for figure, members in FIGURES.items():
            if not set(members) & set(parts):
                continue
            for app, part, _, record in self.all(members):
                if record.get("card", card) != card:
                    raise StateError(
                        f"{self.folder}: {app}'s {part} was measured on {record['card']}, this machine has {card}; {figure}"
                        " would mix both: use another --state, or --redo all of that figure's parts")

    def _load(self, app: str) -> dict[str, Any]:
        path = self.folder / f"{app}.json"
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise StateError(f"{path} cannot be read: {error}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise StateError(f"{path} is not a state of this bench ({FORMAT})")
        return content

    def _write(self, app: str, content: dict[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f"{app}.json.{os.getpid()}"
        partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        partial.replace(self.folder / f"{app}.json")
