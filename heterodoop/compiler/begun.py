"""C compilers that were started for an app before anything else is known of it: they do not wait for the analysis.

Each file is compiled once, into an object: its messages are the compiler's judgement of the file, and filters and prologues
are linked with it. A module that is loaded before the compiler's others, which takes as long as the C compilers' first work.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from ..manifest import Linked, Role
from ..together import Threads
from ..toolchain import cc as toolchain
from ..toolchain import filter as toolchain_filter
from ..toolchain import kept, languages, objects
from .app import BuildOptions
from .source.preprocess import CcRuns


class Begun:
    """What the compilers make of each program.

    runs     what the front end asks them (`preprocess`).
    extra    the further files, those of C and C++ compiled.
    filters  the CPU filters, in bundle/bin of the scratch folder `into`. Without one there are neither.
    """

    def __init__(self, options: BuildOptions, work: Threads, into: Path | None = None) -> None:
        self.options = options
        self._objects = into / "objects" if into is not None else None
        if self._objects is not None:
            self._objects.mkdir()
        self.runs: dict[Role, CcRuns] = {
            role: CcRuns.begin(path, options.cc, work, self._object(role)) for role, path in options.programs
        }
        self.extra: list[Future[Path]] = []
        self.filters: dict[Role, Future[Linked]] = {}
        if into is None:
            return
        bin = into / "bundle" / "bin"
        bin.mkdir(parents=True)
        self.extra = [work.begin(self._extra, i, path) for i, path in enumerate(options.extra)]
        ours = work.begin(_ours, options)
        for role, path in options.programs:
            self.filters[role] = work.begin(self._filter, ours, role, path, bin / role)

    def _object(self, name: str) -> Path | None:
        return self._objects / f"{name}.o" if self._objects is not None else None

    def _extra(self, number: int, path: Path) -> Path:
        """A further file's object; what is no source stays as it is. Raises as `toolchain.cc.build_filter`."""
        made = self._object(str(number))
        if made is None or not languages.is_source(path):
            return path
        toolchain.made_object(kept.compile_object(path, made, self.options.cc), path, made)
        return made

    def _filter(self, ours: Future[tuple[Path, ...]], role: Role, path: Path, out: Path) -> Linked:
        made = self._object(role)
        assert made is not None
        toolchain.made_object(self.runs[role].judged.result(), path, made)
        extra = [one.result() for one in self.extra]
        if any(map(languages.is_cplusplus, (path, *self.options.extra))):
            return toolchain_filter.link_cplusplus([*ours.result(), made, *extra], out, self.options.cc)
        return toolchain_filter.build([*ours.result(), made, *extra], out, self.options.cc)


def _ours(options: BuildOptions) -> tuple[Path, ...]:
    return (objects.own_object("cpu", "stdio_buffers.c"), *objects.math_objects(options.cc))
