"""A bundle made for one job: `heterodoop run APP`, `verify APP`. A module of its own: a bundle needs no compiler."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from ..compiler import compile as spine
from ..diag import Diagnostic
from ..engine import commit
from ..engine.signals import StopSignals

Show = Callable[[list[Diagnostic]], None]


class Compiled:
    """A bundle made for one job. An `output` that exists is refused first: compiling would be work for nothing.

    gpu  compile kernels for the GPUs of this machine too.
    """

    def __init__(self, source: str, show: Show, output: str | None = None, *, gpu: bool = False) -> None:
        # Without a GPU asked for by name the job is there before nvcc would be done.
        self._options = spine.BuildOptions.make([source], arch=[] if gpu else ["none"])
        self._show = show
        if output is not None:
            commit.refuse_existing(output)

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="heterodoop-")
        try:
            bundle, result = spine.compile_to_bundle(self._options, Path(self._folder.name) / f"{self._options.name}.hdp")
        except BaseException:
            self.__exit__()
            raise
        self._show(result.warnings)
        return bundle

    def __exit__(self, *error: object) -> None:
        with StopSignals():  # one more Ctrl-C does not leave the half of it
            self._folder.cleanup()
