"""One directive's clauses against the variables in scope: names to symbols, constants to numbers, and what is wrong.

Part of `bind`, which finds the statement and the scope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from ...diag import Note, Sink
from ...source import Span
from ...values import dataclass
from ..source.clauses import BY_NAME, WARP
from ..source.directive import Argument, Clause, Directive, close_match
from ..source.frontend import Unit
from ..source.wide_names import plain
from ..types import ctype
from ..types.const_eval import const_eval
from ..types.ctype import CType
from ..types.table import TypeTable

_NAMES = ("key", "value", "keyin", "valuein")
# What these name may be declared in the loop: a record's own. A combiner keeps the others from pair to pair.
_OF_A_RECORD = {"mapper": ("key", "value"), "combiner": ("keyin", "valuein")}
_NUMBERS = ("keylength", "vallength", "kvpairs", "blocks", "threads")
_LISTS = ("firstprivate", "sharedRO", "texture")
_CONTRADICTIONS = (
    ("firstprivate", "sharedRO", "is either copied for every record or shared and only read"),
    ("firstprivate", "texture", "is either copied for every record or shared and only read"),
    ("keyin", "sharedRO", "is written by reading a pair"), ("keyin", "texture", "is written by reading a pair"),
    ("valuein", "sharedRO", "is written by reading a pair"), ("valuein", "texture", "is written by reading a pair"),
    ("keyin", "valuein", "cannot take both halves of a pair"),
)


@dataclass(frozen=True)
class ScopedVariable:
    """A variable that is in scope at the directive. `decl` is its Decl node (a parameter's, for storage "param")."""

    name: str
    ctype: CType
    span: Span
    storage: Literal["local", "param", "global", "static"]
    decl: c_ast.Decl


@dataclass(frozen=True)
class Values:
    """Resolved clauses in the order of BoundRegion's fields."""

    names: tuple[str, str, str, str]
    numbers: tuple[int, int, int, int, int]
    lists: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


class ClauseBinder:
    """inside: finds a record's own variables, for a clause that names none of `scope`.
    unknown: declared names whose type HeteroDoop does not know -> what it is."""

    def __init__(
        self, unit: Unit, sink: Sink, directive: Directive, scope: dict[str, ScopedVariable],
        inside: Callable[[], Sequence[ScopedVariable]],
        types: TypeTable, unknown: dict[str, str],
    ) -> None:
        self._unit, self._sink, self._directive = unit, sink, directive
        self._scope, self._inside, self._types, self._unknown = scope, inside, types, unknown

    def run(self) -> Values:
        """Everything resolved; where the sink got errors, the values of the clauses they are about are empty."""
        clauses = self._directive.clauses
        found = {clause.name: self._symbols(clause) for clause in clauses if clause.name in (*_NAMES, *_LISTS)}
        self._check_contradictions()
        numbers = {clause.name: self._number(clause) for clause in clauses if clause.name in _NUMBERS}
        for length, name in (("keylength", "key"), ("vallength", "value")):
            symbols = found.get(name, [])
            if symbols:
                numbers[length] = self._length(length, name, symbols[0], numbers.get(length))
        threads = self._directive.clause("threads")
        if threads and numbers["threads"] and numbers["threads"] % WARP:
            message = f"threads({numbers['threads']}) is not a multiple of {WARP}: the last warp is partly idle"
            self._sink.warn("HD117", message, threads.args[0].span)
        first = [found.get(name, [])[:1] for name in _NAMES]
        a, b, c, d = (symbols[0].name if symbols else "" for symbols in first)
        k, v, p, bl, th = (numbers.get(name) or 0 for name in _NUMBERS)
        x, y, z = (tuple(s.name for s in found.get(name, [])) for name in _LISTS)
        return Values((a, b, c, d), (k, v, p, bl, th), (x, y, z))

    # -------------------------------------------------------------------------------------------- names

    def _symbols(self, clause: Clause) -> list[ScopedVariable]:
        found = []
        for argument in clause.args:
            symbol = self._symbol(clause, argument)
            if symbol is not None and self._right_type(clause, argument, symbol):
                found.append(symbol)
        return found

    def _symbol(self, clause: Clause, argument: Argument) -> ScopedVariable | None:
        name = argument.text
        if plain(name) in self._scope:
            return self._scope[plain(name)]
        inside = [symbol for symbol in self._inside() if symbol.name == plain(name)]
        if inside and clause.name in _OF_A_RECORD[self._directive.kind]:
            return self._one_of(inside, clause, argument)
        other = self._types.lookup(name)
        if name in self._unknown:
            message = f"variable {name!r} in {clause.name!r} has a type that is not known: {self._unknown[name]}"
            self._sink.error("HD120", message, argument.span)
        elif other is not None:
            what = {"typedef": "a type", "function": "a function", "enumerator": "an enumerator"}.get(other.kind, other.kind)
            notes = (Note(f"{name!r} is declared here", self._unit.span(other.node)),) if other.node is not None else ()
            self._sink.error("HD112", f"{name!r} in {clause.name!r} is {what}, not a variable", argument.span, notes=notes)
        else:
            meant = close_match(name, self._scope)
            help = "declare it before the directive, in the same function or globally"
            if inside:
                help += f": what {clause.name!r} names stays from record to record"
            help = f"did you mean {meant!r}?" if meant else help
            notes = (Note(f"{meant!r} is declared here", self._scope[meant].span),) if meant else ()
            message = f"variable {name!r} in {clause.name!r} is not declared here"
            self._sink.error("HD111", message, argument.span, notes=notes, help=help)
        return None

    def _one_of(self, inside: list[ScopedVariable], clause: Clause, argument: Argument) -> ScopedVariable | None:
        """The variable of the loop; of several with that name, each has the same type."""
        first = inside[0]
        for other in inside[1:]:
            if other.ctype != first.ctype:
                message = f"variable {argument.text!r} in {clause.name!r} is declared in the loop with two types"
                notes = (self._declared(first), self._declared(other))
                self._sink.error("HD111", message, argument.span, notes=notes, help="give one of them another name")
                return None
        return first

    def _right_type(self, clause: Clause, argument: Argument, symbol: ScopedVariable) -> bool:
        wanted = ""
        if clause.name in _NAMES:
            if not self._holds_numbers(ctype.element(symbol.ctype) or symbol.ctype):
                wanted = "a number, an array of or pointer to numbers or characters, or a struct of these"
        elif clause.name == "texture":
            inner = symbol.ctype
            while isinstance(inner, ctype.Array):
                inner = inner.of
            inner = inner.to if isinstance(inner, ctype.Pointer) else inner
            if ctype.element(symbol.ctype) is None or not isinstance(inner, ctype.Int | ctype.Float):
                wanted = "an array of or pointer to numbers"
        if not wanted:
            return True
        self._sink.error(
            "HD120", f"{clause.name!r} needs {wanted}, {symbol.name!r} is {str(symbol.ctype)!r}", argument.span,
            notes=(self._declared(symbol),),
        )
        return False

    def _holds_numbers(self, kind: CType) -> bool:
        """A number, or a struct of numbers, of arrays of and pointers to them, and of such structs."""
        layout = self._types.layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) and not kind.union else None
        if layout is None:
            return isinstance(kind, ctype.Int | ctype.Float)
        return bool(layout.fields) and all(self._field_holds_numbers(field.type) for field in layout.fields)

    def _field_holds_numbers(self, kind: CType) -> bool:
        while isinstance(kind, ctype.Array):
            kind = kind.of
        return self._holds_numbers(kind) or isinstance(kind, ctype.Pointer) and isinstance(kind.to, ctype.Int | ctype.Float)

    def _declared(self, symbol: ScopedVariable) -> Note:
        return Note(f"{symbol.name!r} is declared {str(symbol.ctype)!r} here", symbol.span)

    def _check_contradictions(self) -> None:
        for left, right, why in _CONTRADICTIONS:
            first, second = self._directive.clause(left), self._directive.clause(right)
            if first is None or second is None:
                continue
            places = {argument.text: argument.span for argument in first.args}
            for argument in second.args:
                if argument.text in places:
                    self._sink.error(
                        "HD113", f"{argument.text!r} is both in {left!r} and in {right!r}: it {why}", argument.span,
                        notes=(Note(f"in {left!r} here", places[argument.text]),),
                    )

    # ---------------------------------------------------------------------------------------- constants

    def _number(self, clause: Clause) -> int | None:
        argument = clause.args[0]
        value = self._fold(argument.expanded)
        rule = BY_NAME[clause.name]
        shown = argument.text if value is None or str(value) == argument.text else f"{argument.text} = {value}"
        if value is None:
            symbol = self._scope.get(argument.text)
            self._sink.error(
                "HD114", f"{clause.name!r} needs an integer constant, {shown!r} is none", argument.span,
                notes=(self._declared(symbol),) if symbol else (),
                help="use a number, a macro, an enumerator, sizeof or a constant expression of these",
            )
        elif not 1 <= value <= rule.largest:
            message = f"{clause.name!r} must be from 1 to {rule.largest}, it is {shown}"
            self._sink.error("HD115", message, argument.span)
            return None
        return value

    def _fold(self, text: str) -> int | None:
        """Value of a constant expression in the program's scope; a `const` integer with a constant initialiser counts."""
        text = plain(text)
        symbol = self._scope.get(text)
        if symbol is not None:
            const = "const" in (symbol.decl.quals or []) and isinstance(symbol.ctype, ctype.Int)
            return const_eval(symbol.decl.init, self._types) if const and symbol.decl.init is not None else None
        typedefs = "".join(f"typedef int {n};\n" for n, found in self._types.names().items() if found.kind == "typedef")
        try:
            ast = CParser().parse(f"{typedefs}int hd_value = ({text});")
        except (ParseError, ValueError, AssertionError, RecursionError):
            return None
        last = ast.ext[-1]
        single = isinstance(last, c_ast.Decl) and last.name == "hd_value" and last.init is not None
        return const_eval(last.init, self._types) if single else None

    def _length(self, clause_name: str, name: str, symbol: ScopedVariable, given: int | None) -> int | None:
        """Elements of a key or value: as given, else by its type. Compares the two."""
        clause = self._directive.clause(clause_name)
        known = self._types.layouts.elements(symbol.ctype)
        if clause is None:
            if known is None and not self._directive.names(clause_name):
                self._missing(clause_name, name, symbol)
            return known
        if given is not None and known is not None and given not in (known, *self._of_fields(symbol)):
            self._compare(clause, given, known, name, symbol)
        return given

    def _of_fields(self, symbol: ScopedVariable) -> list[int | None]:
        """Elements of each field of a struct: a clause that names it may mean the field that is the key or value."""
        kind, layouts = symbol.ctype, self._types.layouts
        layout = layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) else None
        return [layouts.elements(field.type) for field in layout.fields] if layout is not None else []

    def _missing(self, clause_name: str, name: str, symbol: ScopedVariable) -> None:
        clause = self._directive.clause(name)
        assert clause is not None
        what = "a pointer" if isinstance(symbol.ctype, ctype.Pointer) else "an array of unknown length"
        self._sink.error(
            "HD104", f"clause {clause_name!r} is required: {name} {symbol.name!r} is {what}, so its length is not known",
            clause.args[0].span, notes=(self._declared(symbol),),
            help=f"add {clause_name}(N), N = elements of the longest {name}, a string's final '\\0' included",
        )

    def _compare(self, clause: Clause, given: int, known: int, name: str, symbol: ScopedVariable) -> None:
        if known == 1 and not isinstance(symbol.ctype, ctype.Array):
            message = f"{clause.name}({given}) for the {name} {symbol.name!r}, one {symbol.ctype}: lengths count elements"
        elif given < known:
            message = f"{clause.name}({given}) is less than the {name} {symbol.name!r} can hold, {known} elements"
        else:
            message = f"{clause.name}({given}) is more than the {name} {symbol.name!r} can hold, {known} elements"
        notes = (self._declared(symbol),)
        self._sink.warn("HD116", message, clause.args[0].span, notes=notes, help=f"write {clause.name}({known})")
