"""What a child process is asked to do, as one word of its command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from .options import Options

CANNOT = 3  # exit status of a child that could not begin: what it was to measure is left for another time


@dataclass(frozen=True)
class Request:
    """Measurements `names` of one app's part, none begun that is not expected to end within `seconds`.

    arch    what bundles are compiled for.  facts: card, date and so on, kept with each record.
    marker  a file that names the measurement which is under way.  processors: those to run on, () = all.
    """

    options: Options
    app: str
    part: str
    names: tuple[str, ...]
    seconds: float
    arch: str
    facts: dict[str, str]
    marker: Path
    processors: tuple[int, ...] = ()

    def to_json(self) -> str:
        plain = {name: getattr(self, name) for name in ("app", "part", "names", "seconds", "arch", "facts", "processors")}
        return json.dumps({**plain, "options": self.options.to_json(), "marker": str(self.marker)})

    @classmethod
    def from_json(cls, text: str) -> Request:
        found = json.loads(text)
        options = Options.from_json(found.pop("options"))
        lists = {name: tuple(found.pop(name)) for name in ("names", "processors")}
        return cls(options=options, marker=Path(found.pop("marker")), **lists, **found)
