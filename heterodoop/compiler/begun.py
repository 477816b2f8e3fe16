"""C compilers that were started for an app before anything else is known of it: they do not wait for the analysis.

A module that is loaded before the compiler's others, which takes as long as the C compilers' first work.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from ..manifest import Linked, Role
from ..together import Together
from ..toolchain import filter as toolchain_filter
from ..toolchain import objects
from .app import BuildOptions
from .source.preprocess import CcRuns


class Begun:
    """What the compilers make of each program.

    runs     what the front end asks them (`preprocess`).
    filters  the CPU filters below `into`; nothing without a folder.
    """

    def __init__(self, options: BuildOptions, work: Together, into: Path | None = None) -> None:
        self.options = options
        self.runs: dict[Role, CcRuns] = {role: CcRuns.begin(path, options.cc, work) for role, path in options.programs}
        self.filters: dict[Role, Future[Linked]] = {}
        if into is None:
            return
        into.mkdir(parents=True)
        ours = work.begin(_objects, options)
        for role, path in options.programs:
            self.filters[role] = work.begin(_filter, ours, path, into / role, options)


def _objects(options: BuildOptions) -> tuple[Path, ...]:
    return (objects.own_object("cpu", "stdio_buffers.c"), *objects.math_objects(options.cc))


def _filter(ours: Future[tuple[Path, ...]], path: Path, out: Path, options: BuildOptions) -> Linked:
    return toolchain_filter.build([*ours.result(), path, *options.extra], out, options.cc)
