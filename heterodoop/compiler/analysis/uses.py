"""What a region does with each variable from outside it: shared, private, the record's own, or carried on.

    sharedRO         never written in the region
    private          written and, in every record, written before it is read
    guarded          the same, but that each element read was among those written is not proven: the kernel checks it
    firstprivate     keeps a value from pair to pair of a combiner, or is named so
    record           the reader's: the line's buffer, its capacity, its length; a combiner's incoming pair
    accumulator      what records gather: sums, bits, least and greatest; no record reads it (`accumulators`)
    carried          read before it is written in the same record of a mapper, so one record needs the one before it:
                     the GPU cannot run that (HD210)

Conservative: what `flow` cannot prove is carried or refused, never private.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from ...diag import Note, Sink
from ...manifest import Accumulation, Reason, VariableClass
from ...source import UNKNOWN as NO_SPAN
from ...source import Span
from ...values import dataclass
from ..ir import ir
from ..ir import walk as ir_walk
from ..normalise.by_value import reads
from ..types import ctype
from ..types.ctype import CType
from ..types.parts import Path
from .accumulators import Accumulator, NearMiss
from .flow_findings import Findings, OneObject, Site
from .flow_objects import ObjectModel
from .objects import STRTOK, Arena, Hidden, Local, Object, Returned
from .points_to import PointsTo


@dataclass(frozen=True)
class Use:
    """One object from outside the region. `name` is the IR's (`*p` for memory that the pointer p was given);
    `nbytes` 0 where the size is not known; `key` names it in `PointsTo`; `ops`: of an accumulator."""

    name: str
    key: Object
    type: CType
    nbytes: int
    cls: VariableClass
    reason: str
    place: Span
    read: Span | None = None
    write: Span | None = None
    ops: Mapping[Path, Accumulation] | None = None


@dataclass(frozen=True)
class UseTable:
    """Uses in order of declaration, and why the region stays on the CPU as far as its variables decide that.

    unproven  reads that may touch what the record has not written -> the objects, by their keys; `guards` decides.
    touched   reads -> all objects that each may touch.
    reach     object -> the byte before which all writes to it surely end, None where that is not known.
    """

    uses: tuple[Use, ...]
    refusals: tuple[Reason, ...]
    points_to: PointsTo
    unproven: Mapping[Site, frozenset[Object]] = field(default_factory=dict)
    touched: Mapping[Site, set[Object]] = field(default_factory=dict)
    reach: Mapping[Object, int | None] = field(default_factory=dict)

    def get(self, name: str) -> Use | None:
        return next((u for u in self.uses if u.name == name), None)

    def written(self) -> frozenset[Object]:
        """Keys of the objects that the region writes, the reader's writes included."""
        return frozenset(u.key for u in self.uses if u.write is not None)


def classify(model: ObjectModel, findings: Findings, gathered: Gathered) -> UseTable:
    """Classify the variables of a program whose record loop is in normal form (no loop: an empty table)."""
    if ir.record_loop(model.program.region) is None:
        return UseTable((), (), model.points_to)
    return _Classifier(model, findings, gathered).table()


@dataclass(frozen=True)
class Gathered:
    """What records gather, and what would be that but for one thing (`accumulators`)."""

    found: Mapping[Object, Accumulator] = field(default_factory=dict)
    misses: Mapping[Object, NearMiss] = field(default_factory=dict)


_WORDS = {"sum": "added to", "min": "the least is kept", "max": "the greatest is kept", "and": "bits are cleared",
          "or": "bits are set", "xor": "bits are flipped", "first-min": "the least is kept", "last-min": "the least is kept",
          "first-max": "the greatest is kept", "last-max": "the greatest is kept"}


def _ways(one: Accumulator) -> str:
    """How a variable is updated, or each of its members, for a reader."""
    return ", ".join(f"{'.'.join(path)}: {_WORDS[op]}" if path else _WORDS[op] for path, op in one.ops.items())


class _Classifier:
    def __init__(self, model: ObjectModel, findings: Findings, gathered: Gathered) -> None:
        self._model, self._findings, self._gathered = model, findings, gathered
        self._program, self._points_to = model.program, model.points_to
        self._refusals: list[Reason] = []
        self._record = record_objects(model.program, model.points_to)
        self._mapper = isinstance(model.program.region, ir.MapRegion)

    def table(self) -> UseTable:
        uses = tuple(self._use(key, symbol) for key, symbol in self._objects())
        refusals = (*self._refusals, *self._findings.problems.values())
        found = self._findings
        return UseTable(uses, refusals, self._points_to, found.all_unproven(), found.touched, found.reach)

    def _objects(self) -> Iterator[tuple[Object, ir.Symbol | None]]:
        """Objects that count, in order of declaration: variables of the function, globals, memory, hidden state."""
        found = set(self._findings.facts) | set(self._record) | set(self._gathered.found)
        clauses = self._clause_keys()
        function = self._program.enclosing
        for symbol in (*function.params, *function.locals):
            key: Object = self._points_to.key(function.name, symbol.name)
            if self._model.outer(key) and (key in found or key in clauses):
                yield key, symbol
        others: dict[Object, ir.Symbol] = {
            self._points_to.key("", s.name): s for s in (*self._program.globals, *self._program.externs)}
        for key, symbol in others.items():
            if key in found or key in clauses or symbol.storage == "call":
                yield key, symbol
        for key in sorted(found):
            if self._model.outer(key) and not isinstance(key, (Local, Returned)) and key not in others:
                yield key, None

    def _clause_keys(self) -> set[Object]:
        region = self._program.region
        named = [region.key, region.value, *region.firstprivate, *region.sharedRO, *region.texture]
        if isinstance(region, ir.CombineRegion):
            named += [region.keyin, region.valuein]
        return {self._points_to.key(region.function, n) for n in named if n}

    def _use(self, key: Object, symbol: ir.Symbol | None) -> Use:
        facts = self._findings.facts.get(key) or OneObject()
        kind = (symbol.type if symbol is not None else self._model.object_type(key)) or ctype.VOID
        name = symbol.name if symbol is not None else self._memory_name(key)
        cls, reason = self._classify(key, name, symbol, facts, kind)
        place = symbol.span if symbol is not None else facts.read or facts.write or NO_SPAN
        nbytes = self._program.layouts.size(kind) or 0
        gathered = self._gathered.found.get(key)
        write = gathered.place if gathered is not None else facts.write
        ops = gathered.ops if gathered is not None else None
        return Use(name, key, kind, nbytes, cls, reason, place, facts.read, write, ops)

    def _memory_name(self, key: Object) -> str:
        """`*p` for an allocation, p being the first variable that points to it."""
        if isinstance(key, Hidden):
            return key.name
        function = self._program.enclosing
        for symbol in (*function.params, *function.locals, *self._program.globals):
            own = self._points_to.key(function.name, symbol.name)
            if key in self._points_to.contents(own):
                return f"*{symbol.name}"
        return str(key)

    # ------------------------------------------------------------------------------------- classes

    def _classify(
        self, key: Object, name: str, symbol: ir.Symbol | None, facts: OneObject, kind: CType,
    ) -> tuple[VariableClass, str]:
        region = self._program.region
        if key in self._gathered.found:
            one = self._gathered.found[key]
            return "accumulator", f"{_ways(one)} {_at(one.place)}; no record reads it"
        if key in self._record:
            return self._record_class(key, name, facts)
        if symbol is not None and symbol.storage == "call":
            return "sharedRO", f"{self._program.shown(name)} does not change within a task: asked once before the loop"
        if facts.read is None and facts.write is None:
            return "unused", "the region does not use it"
        if facts.write is None:
            return self._read_only(name, kind)
        if facts.exposed is not None:
            return self._exposed(key, name, facts)
        if name in region.firstprivate:
            return "firstprivate", f"named in firstprivate; written {_at(facts.write)}"
        if facts.assumed is not None:
            return "guarded", (
                f"written before each read in the same {self._unit()}; that every element read {_at(facts.assumed)} "
                "was written is not proven"
            )
        if facts.read is None:
            return "private", f"written {_at(facts.write)}, never read"
        return "private", f"written {_at(facts.write)} before it is read in the same {self._unit()}"

    def _unit(self) -> str:
        return "record" if self._mapper else "run"

    def _read_only(self, name: str, kind: CType) -> tuple[VariableClass, str]:
        region = self._program.region
        if name in region.texture:
            return "texture", "named in texture; never written in the region"
        if name in region.firstprivate:
            return "firstprivate", "named in firstprivate; never written in the region"
        size = self._program.layouts.size(kind)
        array = isinstance(kind, ctype.Array) and size is not None
        more = f"; an array of {size} bytes, so texture memory could hold it" if array else ""
        named = "named in sharedRO; " if name in region.sharedRO else ""
        return "sharedRO", f"{named}never written in the region{more}"

    def _exposed(self, key: Object, name: str, facts: OneObject) -> tuple[VariableClass, str]:
        if not self._mapper:
            named = self._program.region.firstprivate
            how = "named in firstprivate" if name in named else "found by the compiler"
            return "firstprivate", f"{how}: read {_at(facts.exposed)} before it is written, so it starts with its old value"
        if key == STRTOK:
            text = f"strtok() {_at(facts.exposed)} may get NULL and go on with an earlier record: test the pointer first"
        else:
            text = f"'{_shown(name)}' is read {_at(facts.exposed)} before it is written in the same record"
        more = f"; written {_at(facts.write)}, so records depend on each other"
        if any(isinstance(obj, Arena) for obj in self._points_to.contents(key)):
            more += "; it may lead to memory of an earlier record, which has ended with that: set it in each record"
        miss = self._gathered.misses.get(key)
        if miss is not None:
            more += f" (no total of what records add {_at(miss.update)}: {miss.why} {_at(miss.place)})"
        self._refusals.append(Reason("HD210", text + more, miss.place if miss is not None else facts.exposed or NO_SPAN))
        return "carried", text + more

    def _record_class(self, key: Object, name: str, facts: OneObject) -> tuple[VariableClass, str]:
        what = self._record[key]
        if what in ("the line's buffer", "the buffer's capacity") and not facts.reader_only:
            text = f"'{name}', {what}, is changed {_at(facts.write)} other than by the reader"
            self._refusals.append(Reason("HD210", text, facts.write or NO_SPAN))
            return "carried", text
        if facts.exposed is not None and (self._mapper or facts.exposed_in_loop):
            text = f"'{name}', {what}, is read {_at(facts.exposed)} where the reader may not have written it"
            if what == "filled by the reader":
                text += ": let the loop go on only where scanf gives the number of its conversions"
            self._refusals.append(Reason("HD210", text, facts.exposed))
            return "carried", text
        return "record", what


def _at(span: Span | None) -> str:
    if span is None or not span.line:
        return "in the region"
    return f"at {span.line}:{span.col}" if span.col else f"in line {span.line}"


def _shown(name: str) -> str:
    return name.split("$")[0]


def record_objects(program: ir.Program, points_to: PointsTo) -> dict[Object, str]:
    """Keys of the objects that the record loop's reader fills -> what each is."""
    loop = ir.record_loop(program.region)
    if loop is None:
        return {}
    found: dict[Object, str] = {}
    function = program.region.function
    for read in reads(loop.cond):
        if isinstance(read, ir.ReadPair):
            for target in read.targets:
                found.update(dict.fromkeys(points_to.targets(function, target), "filled by the reader"))
            continue
        getline = read.kind == "getline"
        what = "the line's buffer" if getline else "the record's buffer"
        found.update(dict.fromkeys(points_to.targets(function, read.target), what))
        if getline:
            found.update(dict.fromkeys(points_to.targets(function, read.capacity), "the buffer's capacity"))
    for node in ir_walk.walk(loop.cond):
        if isinstance(node, ir.Assign) and reads(node.value):
            found.update(dict.fromkeys(points_to.objects(function, node.target), "the reader's result"))
    return found


def check_clauses(program: ir.Program, table: UseTable, sink: Sink) -> None:
    """A variable named in sharedRO or texture must not be written (HD211); both places are shown."""
    region = program.region
    for clause in ("sharedRO", "texture"):
        for name in getattr(region, clause):
            use = table.get(name)
            written = use if use is not None and use.write is not None else table.get(f"*{name}")
            if written is not None and written.write is not None:
                text = f"'{_shown(name)}' is named in {clause}, but the region writes to it"
                note = Note(f"'{_shown(name)}' is declared here", use.place if use is not None else None)
                sink.error("HD211", text, written.write, notes=(note,), help=f"take '{_shown(name)}' out of {clause}")
