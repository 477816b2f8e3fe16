"""A bundle made for one job: `heterodoop run APP`, `verify APP`. A module of its own: a bundle needs no compiler."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from .. import scratch
from ..compiler import compile as compiling
from ..diag import Diagnostic
from ..engine.run import commit
from ..engine.terminal.signals import StopSignals
from ..errors import ToolError

Show = Callable[[list[Diagnostic]], None]
_NVCC = ("HD514", "HD515")  # it is of no use; it fails on a kernel


class Compiled:
    """A bundle made for one job. An `output` that exists is refused first: compiling would be work for nothing.

    gpu     compile kernels for the GPUs of this machine too.
    insist  nothing will do without them: what is wrong with nvcc is an error, else a warning.
    """

    def __init__(
        self, source: str, show: Show, output: str | None = None, *, gpu: bool = False, insist: bool = False,
    ) -> None:
        # Without a GPU the job is there before nvcc would be done.
        self._options = compiling.BuildOptions.make([source], arch=[] if gpu else ["none"])
        self._show = show
        self._optional = gpu and not insist
        if output is not None:
            commit.refuse_existing(output)

    def __enter__(self) -> Path:
        self._folder = contextlib.ExitStack()
        try:
            folder = self._folder.enter_context(scratch.folder("app-"))
            bundle, result = self._compile(folder / f"{self._options.name}.hdp")
        except BaseException:
            self.__exit__()
            raise
        self._show(result.warnings)
        return bundle

    def _compile(self, bundle: Path) -> tuple[Path, compiling.CompileResult]:
        try:
            return compiling.compile_to_bundle(self._options, bundle)
        except ToolError as error:
            if not self._optional or error.code not in _NVCC:
                raise
            self._show([Diagnostic("warning", error.code, f"no kernels for GPUs: {error.message}", help=error.help)])
        without = replace(self._options, gpu=replace(self._options.gpu, arch=("none",)))
        return compiling.compile_to_bundle(without, bundle)

    def __exit__(self, *error: object) -> None:
        with StopSignals():  # one more Ctrl-C does not leave the half of it
            self._folder.close()
