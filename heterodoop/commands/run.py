"""`heterodoop run`: a bundle, or an app that is compiled first, through the embedded engine; then what to tell the user."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from .. import manifest
from ..compiler import compile as spine
from ..diag import Diagnostic
from ..engine import commit
from ..engine.local import JobResult, run_local
from ..engine.plan import RunOptions

Show = Callable[[list[Diagnostic]], None]


def run(
    bundle: str, inputs: tuple[str, ...], output: str, *, show: Show, as_json: bool, quiet: bool, **options: Any,
) -> None:
    """Run the job; print its report with `as_json`, else where the result lies. Raises as `run_local` and the compiler."""
    with _bundle(bundle, output, show) as path:
        result = run_local(path, inputs, output, RunOptions(quiet=quiet or as_json, **options))
    show(list(result.warnings))
    if as_json:
        click.echo(json.dumps(result.report, indent=1))
    elif not quiet:
        click.echo(_summary(result), err=True)


def _bundle(name: str, output: str, show: Show) -> AbstractContextManager[Path]:
    """The bundle's path; for an app's folder or C file a bundle of its own that goes away with the context."""
    path = Path(name)
    source = path.is_file() or (path / "map.c").is_file()
    return _Compiled(name, output, show) if source and not (path / manifest.FILE).is_file() else nullcontext(path)


class _Compiled:
    """A bundle made for one job. An output that exists is refused first: compiling would be work for nothing."""

    def __init__(self, source: str, output: str, show: Show) -> None:
        self._options = spine.BuildOptions.make([source])
        self._show = show
        commit.refuse_existing(output)

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="heterodoop-")
        try:
            bundle, result = spine.compile_to_bundle(self._options, Path(self._folder.name) / f"{self._options.name}.hdp")
        except BaseException:
            self._folder.cleanup()
            raise
        self._show(result.warnings)
        return bundle

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()


def _summary(result: JobResult) -> str:
    return f"result in {result.output}, report in {result.report_folder}"
