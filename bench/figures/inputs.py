"""The data that each app is fed here: made once, in a folder that may be deleted at any time."""

from __future__ import annotations

import os
from pathlib import Path

from .. import app_inputs, centroids, contenders, data
from ..device_task import Work
from .options import Options

SEED = 1


def fed(app: str, options: Options) -> Work:
    """The app's data, settings and side files; the whole file is one GPU task's input."""
    return of_size(app, options.app_size(app), options)


def of_size(app: str, size: int, options: Options) -> Work:
    found = app_inputs.INPUTS[app]
    text = data.cached(size, SEED, options.data, found.kind)
    return with_sides(app, text)


def with_sides(app: str, text: Path) -> Work:
    """A text with what belongs to it."""
    found = app_inputs.INPUTS[app]
    settings = (f"grep.pattern={contenders.rare_word(text)}",) if app == "grep" else ()
    files = [str(path) for path in data.side_files(text, found.kind)]
    if found.centroids:
        files.append(f"{_centroids(text, found.centroids)}#{app_inputs.CENTROIDS}")
    return Work(text, settings=settings, files=tuple(files))


def _centroids(text: Path, clusters: int) -> Path:
    path = text.with_name(f"centroids-{clusters}.txt")
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(centroids.centroids(text, clusters))
        partial.replace(path)
    return path


def repeated(text: Path, size: int, target: Path) -> Path:
    """The text over and over, `size` bytes or more, for tasks that are too fast for one copy."""
    whole = text.stat().st_size
    with open(text, "rb") as source, open(target, "wb") as sink:
        for _ in range(-(-size // whole)):
            at = 0
            while at < whole:
                at += os.sendfile(sink.fileno(), source.fileno(), at, whole - at)
    return target


def links(text: Path, copies: int, folder: Path) -> list[Path]:
    """So many names of one file: input of a job that need not be larger on disk than in the page cache."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [folder / f"input-{number:04d}.txt" for number in range(copies)]
    for name in names:
        name.unlink(missing_ok=True)
        try:
            os.link(text, name)
        except OSError:  # another file system
            name.symlink_to(text)
    return names
