"""Why a region has no record loop (HD228), and what to write instead: by what it reads its input with."""

from __future__ import annotations

from ...manifest import Reason
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import reached
from . import end_tests
from .by_value import is_record_condition, reads
from .token_formats import may_take_nothing, why_no_tokens

BYTE_READERS = frozenset(
    {"getchar", "getc", "fgetc", "getchar_unlocked", "getc_unlocked", "fread", "fread_unlocked", "gets", "read"}
)
_BLOCKS = frozenset({"fread", "fread_unlocked", "read"})


def reason(program: ir.Program) -> Reason:
    """Of a program whose loop was not recognised."""
    region = program.region
    for node in ir_walk.walk(region.body):
        found = _called(node)
        if found is not None:
            return found
        if isinstance(node, ir.Opaque):
            return Reason("HD228", f"the region's loop cannot be analysed: {_advice(region)}", node.span)
    here = reads(region.body)
    for name in [] if here else sorted(reached(program, region.body) - {region.function}):
        for node in ir_walk.walk(program.by_name[name].body):
            if isinstance(node, (ir.ReadRecord, ir.ReadPair)):
                text = f"the records are read in {name}(): call getline, fgets or scanf in the loop's condition"
                return Reason("HD228", text, node.span)
            found = _called(node)
            if found is not None:
                return found
    if not here:
        place = region.body.span if region.body.span.line else region.span
        return Reason("HD228", f"the region reads no records from stdin: {_advice(region)}", place)
    if isinstance(here[0], ir.ReadPair) and isinstance(region, ir.MapRegion):
        why = _no_words(region, here[0])
        if why:
            return Reason("HD228", f"the format of scanf does not read word after word of a line: {why}", here[0].span)
    text = "no loop of the region reads one record per round and ends just at the end of the input"
    if end_tests.asks(region.body):
        text = "feof() is true only after a read has met the end, so what follows a read runs once more without a record"
    return Reason("HD228", f"{text}: {_advice(region)}", here[0].span)


def _called(node: ir.Node) -> Reason | None:
    """Of a call that reads no lines."""
    name = ir.called(node) if isinstance(node, ir.Call) else ""
    if name in _BLOCKS:
        text = (f"{name}() reads past line ends, and a split of the input begins at one: read lines by getline or fgets, "
                "and take fields of a fixed width out of each")
    elif name == "getdelim":
        text = "getdelim() reads past line ends, and a split of the input begins at one: read lines, and cut each by strtok"
    elif name in BYTE_READERS:
        text = f"the input is read by {name}: a record is a line (getline, fgets) or a word (scanf \"%s\")"
    else:
        return None
    return Reason("HD228", text, node.span)


def _no_words(region: ir.MapRegion, read: ir.ReadPair) -> str:
    why = why_no_tokens(read.format)
    conds = [stmt.cond for stmt in region.body.body if isinstance(stmt, (ir.While, ir.For)) and stmt.cond is not None]
    ends = any(read in reads(cond) and is_record_condition(cond, tokens=False) for cond in conds)
    if not why and ends and may_take_nothing(read.format):
        why = "at a word that is no number it gives 0 again and again: let the loop go on only where it gives all it wants"
    return why


def _advice(region: ir.MapRegion | ir.CombineRegion) -> str:
    """What to write instead."""
    if isinstance(region, ir.MapRegion):
        return "write while (getline(&line, &size, stdin) != -1), and test anything else inside the loop"
    return 'write while (scanf("%31s %d", key, &value) == 2) or a loop of getline, and test anything else inside it'
