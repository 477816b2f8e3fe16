"""The only module that knows where templates/ and runtime/ lie: in the installed package or in a checkout."""

from __future__ import annotations

from pathlib import Path

from .errors import ToolError

_PACKAGE = Path(__file__).resolve().parent


def find(kind: str, *parts: str) -> Path:
    """Path of a data file or folder; `kind` is "runtime" or "templates".

    Looks in the mapped package first (pip install .), then beside the package (pip install -e ., a bare checkout).
    Raises ToolError where neither has it.
    """
    for root in (_PACKAGE / f"_{kind}", _PACKAGE.parent / kind):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise ToolError(
        f"{kind}/{'/'.join(parts)} is missing from this installation",
        code="HD501", help="install HeteroDoop again (pip install .)",
    )
