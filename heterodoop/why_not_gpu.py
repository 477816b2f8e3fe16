"""What keeps an app's programs off GPUs, or makes them slower there, and what to change: what would help most comes first.
From a manifest alone, so a bundle says it, too.

First the map's refusals, since without the map nothing runs on a GPU; then the combiner's, then the reducer's, then what
only slows. In a program those come first after whose change the fewest are left, and last what no change of it mends.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

from .compiler.report.fixes import fix_lines
from .diag import excerpt
from .hdcodes.entry import NOTHING
from .hdcodes.remedies import remedy
from .manifest import Change, Manifest, Program, Reason, Role
from .values import dataclass

_TITLES: dict[Role, str] = {"map": "the map", "combine": "the combiner", "reduce": "the reducer"}
_NOTHING = "nothing: the map runs on devices"


@dataclass(frozen=True)
class Obstacle:
    """slows: it costs time only. remedy: what to do, where no small change of the source does it."""

    role: Role
    reason: Reason
    remedy: str
    slows: bool = False

    @property
    def nothing(self) -> bool:
        """Does no change of this program mend it?"""
        return self.reason.fix is None and self.remedy.startswith(NOTHING)


def runs(manifest: Manifest) -> bool:
    """Is there nothing that keeps the map off devices?"""
    mapper = manifest.program("map")
    return mapper is not None and not mapper.gpu_refusals


def obstacles(manifest: Manifest) -> list[Obstacle]:
    """All of an app, what would help most first."""
    found = [_obstacle(p.role, reason) for p in manifest.programs for reason in _refusals(p)]
    slows = [_obstacle(p.role, reason, slows=True) for p in manifest.programs for reason in _slower(p)]
    return sorted(found, key=_order) + sorted(slows, key=_order)


def text(manifest: Manifest) -> str:
    """For a terminal."""
    found = obstacles(manifest)
    lines = [f"{manifest.name}: {_verdict(manifest, found)}"]
    shown: dict[tuple[Change, ...], int] = {}
    for number, obstacle in enumerate(found, 1):
        fix = obstacle.reason.fix
        first = shown.setdefault(fix.changes, number) if fix is not None else number
        lines += ["", *_lines(number, obstacle, first)]
    return "\n".join(lines) + "\n"


def as_json(manifest: Manifest) -> str:
    """`runs`, and the obstacles in the order of the text; `fix` is null where there is none."""
    rows = [
        {"program": o.role, "slows": o.slows, "code": o.reason.code, "message": o.reason.message, "place": o.reason.place,
         "line": o.reason.text, "remedy": o.remedy, "nothing_to_change": o.nothing,
         "fix": dataclasses.asdict(o.reason.fix) if o.reason.fix else None}
        for o in obstacles(manifest)
    ]
    return json.dumps({"name": manifest.name, "runs": runs(manifest), "obstacles": rows}, indent=1) + "\n"


def _refusals(program: Program) -> Iterator[Reason]:
    if program.role == "reduce":
        yield from program.no_host if program.reducer is None else ()
        return
    yield from program.gpu_refusals
    region = program.region
    if not program.gpu_refusals and program.kernel is None and region is not None and region.no_fold is not None:
        yield region.no_fold


def _slower(program: Program) -> Iterator[Reason]:
    """Of what runs on devices."""
    region, kernel = program.region, program.kernel
    if kernel is not None and region is not None and region.no_fold is not None:
        yield region.no_fold
    for place in kernel.places if kernel is not None else ():
        if place.space == "texture":
            yield Reason("HD272", f"'{place.name}' is read through a texture object, which was slower on every GPU tried")
    yield from program.host.no_folds if program.host is not None else ()


def _obstacle(role: Role, reason: Reason, *, slows: bool = False) -> Obstacle:
    return Obstacle(role, reason, remedy(reason.code, reason.message), slows)


def _order(obstacle: Obstacle) -> tuple[int, bool, bool, int]:
    """Programs in the order of their work; Python's sort keeps the compiler's order where these are equal."""
    fix = obstacle.reason.fix
    return list(_TITLES).index(obstacle.role), obstacle.nothing, fix is None, fix.left if fix is not None else 0


def _verdict(manifest: Manifest, found: list[Obstacle]) -> str:
    if runs(manifest):
        rest = len(found)
        return _NOTHING + (f"; {rest} other thing{'s' if rest > 1 else ''} could be faster" if rest else "")
    first = [o for o in found if o.role == "map"]
    said = f"{len(first)} reason{'s keep' if len(first) > 1 else ' keeps'} the map off devices"
    fixed = sum(o.reason.fix is not None for o in first)
    if any(o.nothing for o in first):
        return f"{said}, one of them whatever is changed"
    if fixed == len(first):
        return f"{said}; {'each has' if fixed > 1 else 'it has'} a small change"
    return said + (f"; {fixed} of them {'have' if fixed > 1 else 'has'} a small change" if fixed else "")


def _lines(number: int, obstacle: Obstacle, first: int) -> list[str]:
    """first: the number of the first obstacle with this change."""
    reason = obstacle.reason
    place = f"{reason.place}: " if reason.place else ""
    what = f"{_TITLES[obstacle.role]}, slower" if obstacle.slows else _TITLES[obstacle.role]
    lines = [f"{number}. {what}: {place}{reason.message} [{reason.code}]",
             *(f"   {line}" for line in excerpt(reason.span, reason.text))]
    if reason.fix is None:
        return [*lines, f"   help: {obstacle.remedy}"]
    if first < number:
        return [*lines, f"   change: that of {first} mends it, too"]
    return [*lines, *(f"   {line}" for line in fix_lines(reason.fix))]
