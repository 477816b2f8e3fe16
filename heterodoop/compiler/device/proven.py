"""Is it proven, with nothing left to check at run time, that what a record makes a program print depends on it alone?

Then the filter, too, prints the same for a record whatever it read before: behind another split's last record as at the
beginning of its own. A kernel that checks something stops where that is not so; a filter just goes on. What is taken for
proven is listed, so that a new kind of node is not by mistake.
"""

from __future__ import annotations

from ..ir import ir
from . import nodes
from .program import CopyAhead, Declare, Fresh, Limit, Program, SearchAhead

# Of the device's own nodes those that compute with what they are given, whatever that is.
_PURE = (
    nodes.Var, nodes.Special, nodes.Temp, nodes.ToInteger, nodes.KeepSign, nodes.Wrap, nodes.Negate, nodes.Shift,
    nodes.Divide, nodes.WrapAssign, nodes.DivideAssign, nodes.WrapStep, nodes.Fetch, nodes.Call, nodes.Fail, nodes.Stream,
    nodes.Spec, nodes.Bind, nodes.Print, nodes.PutChar, nodes.PutItems, nodes.SignChecked, nodes.Chars, nodes.Braces,
    nodes.Compound, Fresh, Limit, CopyAhead, SearchAhead,
)

_SOURCE = ir.__name__.rpartition(".")[0] + "."  # where the nodes are that mean what they mean in C


def of_each_record(program: Program) -> bool:
    """True where it is proven. Errno, strtok's place, and what is begun anew on a device: earlier records leave these."""
    return not program.guarded and all(map(_proven, program.nodes()))


def _proven(node: ir.Node) -> bool:
    match node:
        case nodes.Library():
            return not (node.state or node.apart or node.checks or node.marks or node.rooms)
        case nodes.Read():
            return node.kind == "getline" and not node.marks and node.room is None
        case nodes.PrintTo():
            return not node.apart and not node.marks and node.room is None
        case Declare():
            return node.guard is None and node.extent is None
        case nodes.Converted() | nodes.Bytes():
            return node.asked is None
    return type(node).__module__.startswith(_SOURCE) or isinstance(node, _PURE)
