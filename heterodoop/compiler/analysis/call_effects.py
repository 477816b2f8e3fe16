"""What one call of a library function reads and changes, as places: the table of `libc_effects` and what it leaves out.

Hidden state counts as an object: strtok's place, errno, the streams, the state of random numbers. Not here: calls of the
program's own functions (`sequencing`), reading and writing as nodes of our own.
"""

from __future__ import annotations

from ...values import dataclass
from ..ir import ir
from ..types import ctype
from . import device_calls
from .libc_effects import EFFECTS, Access
from .locations import NOWHERE, Location, Locations, Places
from .objects import STRTOK, Hidden
from .points_to import PointsTo

STDIN = Hidden("*stdin", "the input")
STDOUT = Hidden("*stdout", "the output")
STDERR = Hidden("*stderr", "the text for stderr")
_FILES = Hidden("*files", "a file")
_RANDOM = Hidden("*random", "the state of random numbers")
_RANDOM_CALLS = frozenset("rand srand random srandom drand48 srand48 lrand48 mrand48".split())
_FILE_CALLS = frozenset(
    "fopen freopen fclose fread fgets fgetc getc ungetc getline getdelim fscanf fseek ftell rewind fflush feof fputs fputc "
    "putc fwrite fprintf read write".split()
)
_INPUT_CALLS = frozenset("getchar getchar_unlocked scanf gets".split())


@dataclass(frozen=True)
class Effects:
    """`pending`: those of `changes` that need not be done when the value is known. `errno`: a library call may set it."""

    reads: Places = NOWHERE
    changes: Places = NOWHERE
    pending: Places = NOWHERE
    errno: bool = False

    def __or__(self, other: Effects) -> Effects:
        if not other.reads and not other.changes and not other.errno:
            return self
        return Effects(self.reads | other.reads, self.changes | other.changes, self.pending | other.pending,
                       self.errno or other.errno)

    def done(self) -> Effects:
        """The same behind a sequence point."""
        return Effects(self.reads, self.changes, NOWHERE, self.errno) if self.pending else self


NONE = Effects()


def state(hidden: Hidden) -> Effects:
    """Something hidden that is read and changed."""
    both = frozenset({Location(hidden)})
    return Effects(both, both)


class CallEffects:
    """`of`: the effects of a library call's own work, its arguments' left out."""

    def __init__(self, points_to: PointsTo, locations: Locations) -> None:
        self._points_to, self._locations = points_to, locations

    def of(self, function: str, node: ir.Call) -> Effects:
        name = ir.called(node)
        if name in ("strtok", "strtok_r", "strsep"):
            return self._token(function, node, name)
        if name in ("sscanf", "sprintf", "snprintf"):
            return self._formatted(function, node, name)
        effect = EFFECTS.get(name)
        if effect is None:
            return self._unknown(function, node) | _hidden(name)
        reads = self._accessed(function, node, effect.reads)
        changes = self._accessed(function, node, effect.writes)
        return Effects(reads, changes, NOWHERE, _may_set_errno(name)) | _hidden(name)

    def _accessed(self, function: str, node: ir.Call, accesses: tuple[Access, ...]) -> Places:
        found: set[Location] = set()
        for access in accesses:
            if access.arg < len(node.args):
                whole = access.how == "object"
                where = self._locations.behind if whole else self._locations.around
                found |= where(function, node.args[access.arg])
        return frozenset(found)

    def _token(self, function: str, node: ir.Call, name: str) -> Effects:
        """The string that is cut, wherever it was begun, and the place that is kept."""
        text = self._locations.around(function, node.args[0]) if name != "strsep" else NOWHERE
        if name == "strtok":
            kept, held = frozenset({Location(STRTOK)}), self._points_to.contents(STRTOK)
        else:
            at = node.args[2 if name == "strtok_r" else 0]
            kept = self._locations.behind(function, at)
            held = set().union(*(self._points_to.contents(obj) for obj in self._points_to.targets(function, at)))
        text |= {Location(obj) for obj in held}
        return Effects(text | kept | self._locations.around(function, node.args[1]), text | kept)

    def _formatted(self, function: str, node: ir.Call, name: str) -> Effects:
        at = 2 if name == "snprintf" else 1
        pointers = [a for a in node.args[at:] if isinstance(a.type, ctype.Pointer)]
        behind = frozenset().union(*(self._locations.around(function, a) for a in pointers))
        first = self._locations.around(function, node.args[0])
        return Effects(first, behind) if name == "sscanf" else Effects(behind, first)

    def _unknown(self, function: str, node: ir.Call) -> Effects:
        pointers = [a for a in node.args if isinstance(a.type, ctype.Pointer)]
        touched = frozenset().union(*(self._locations.around(function, a) for a in pointers))
        return Effects(touched, touched)


def _hidden(name: str) -> Effects:
    for names, kept in ((_RANDOM_CALLS, _RANDOM), (_FILE_CALLS, _FILES), (_INPUT_CALLS, STDIN)):
        if name in names:
            return state(kept)
    return NONE


def _may_set_errno(name: str) -> bool:
    row = device_calls.find(name)
    return row is not None and row.state in ("err", "errno")
