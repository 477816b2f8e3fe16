"""THE table of what each app is fed: the kind of generated data, settings and side files. For benches and device_check.py.

Not here: making the data (data.py), what is measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CENTROIDS = "centroids.txt"


@dataclass(frozen=True)
class AppInput:
    """What an app needs beside its input.

    kind       of generated data (data.KINDS), which may come with side files.
    settings   for its own sample.
    shared     side files that lie in another app's folder.
    centroids  clusters whose first centroids are taken from the data (centroids.py), 0 = none.
    texture    its source has a form with the `texture` clause, compiled with -D TEXTURE.
    """

    kind: str
    settings: tuple[tuple[str, str], ...] = ()
    shared: tuple[str, ...] = ()
    centroids: int = 0
    texture: bool = False


INPUTS: dict[str, AppInput] = {
    "grep": AppInput("zipf", settings=(("grep.pattern", "Light"),)),
    "histmovies": AppInput("movies"),
    "station_temperatures": AppInput("stations"),
    "wordcount": AppInput("zipf"),
    "histratings": AppInput("movies"),
    "linear_regression": AppInput("rows"),
    "kmeans": AppInput("shared-movies", centroids=16, texture=True),  # 16 as in PUMA's initial_centroids
    "classification": AppInput("shared-movies", centroids=16, texture=True),
    "blackscholes": AppInput("stock-options"),
    "logistic_regression": AppInput("logistic"),
    "pagerank": AppInput("edges"),
    "ssb_q11": AppInput("ssb"),
    "ssb_q21": AppInput("ssb", shared=("ssb_q11/date.tbl",)),
}


def sample_options(app: Path) -> Iterator[str]:
    """Options of `run` and `verify` for an app's own sample: settings and side files."""
    found = INPUTS.get(app.name)
    for name, value in found.settings if found else ():
        yield from ("-D", f"{name}={value}")
    own = [p for p in app.iterdir() if p.suffix in (".txt", ".tbl") and p.name not in ("sample.txt", "expected.txt")]
    for side in [*sorted(own), *(ROOT / "apps" / name for name in (found.shared if found else ()))]:
        yield from ("--file", str(side))
