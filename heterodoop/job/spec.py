"""What a user asked for, as `run` and `submit` have it alike. How a place runs it is in that place's own options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from . import jobconf
from . import settings as names
from .stopping import IterateOptions


class Common(Protocol):
    """The options that both commands have, as text where the user gave text; None = not given.

    settings: `-D` definitions, KEY=VALUE. files: PATH or PATH#NAME. record_delimiter: with escapes.
    """

    @property
    def settings(self) -> Sequence[str]: ...
    @property
    def files(self) -> Sequence[str]: ...
    @property
    def reducers(self) -> str | int | None: ...
    @property
    def record_delimiter(self) -> str | None: ...


class JobSpec(NamedTuple):
    """A job. Nothing of it is looked at yet: whether names are there, and what a setting's value means.

    bundle   a folder of this machine.
    inputs   in order; they and `output` are names of the place where the job runs.
    settings `-D` definitions, KEY=VALUE.
    options  what is short for a setting: its name -> (the option, its value), as `jobconf.gather` takes them.
    files    what filters find in their working folder: PATH or PATH#NAME (`storage.shipped`).
    again    run it again and again; None: once.
    """

    bundle: Path
    inputs: tuple[str, ...]
    output: str
    settings: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, str]] = {}
    files: tuple[str, ...] = ()
    again: IterateOptions | None = None

    @classmethod
    def of(
        cls, bundle: str | Path, inputs: Sequence[str], output: str, options: Common, again: IterateOptions | None = None,
    ) -> JobSpec:
        """Raises UsageError HD032: a record delimiter that cannot be."""
        given: dict[str, tuple[str, str]] = {}
        if options.reducers is not None:
            given[names.REDUCES] = "--reducers", str(options.reducers)
        if options.record_delimiter is not None:
            text = jobconf.unescape(options.record_delimiter, "--record-delimiter")
            given[names.RECORD_DELIMITER] = "--record-delimiter", text
        return cls(Path(bundle), tuple(inputs), output, tuple(options.settings), given, tuple(options.files), again)
