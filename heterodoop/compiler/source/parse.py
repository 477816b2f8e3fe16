"""pycparser, with places in the user's files, ranges and conditionals of GNU C, and two repairs: `typeof`, and names that
shadow a typedef in their own initialiser (`rec *rec = malloc(sizeof(*rec))`). Takes cleaned text, gives a tree or a
ParseFailure; nothing else escapes.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pycparser import c_ast
from pycparser.c_lexer import CLexer
from pycparser.c_parser import Coord, CParser, ParseError

from .clean import Cleaned
from .deep import deep
from .preprocess import Columns

# GNU's forms that have no node get one of C's: `first ? TO : last` is a range, `cond ? SAME : other` has no middle operand.
TO, SAME = "__hd_to", "__hd_same"


class ParseFailure(Exception):
    """pycparser does not take the text. `line` 0: the place is not known; `col` 0: only the line is."""

    def __init__(self, message: str, file: str = "", line: int = 0, col: int = 0) -> None:
        super().__init__(message)
        self.message, self.file, self.line, self.col = message, file, line, col


@deep
def parse(cleaned: Cleaned, columns: Columns, *, gnu: bool) -> c_ast.FileAST:
    """Parse cleaned text. Node coordinates: file and line of the user's, column there or 0. Raises ParseFailure."""
    parser = _Parser(cleaned, columns, gnu)
    try:
        return parser.parse(cleaned.text, "0")
    except _Stop as stop:
        raise ParseFailure(stop.message, stop.file, stop.line, stop.col) from None
    except (RecursionError, MemoryError):
        raise ParseFailure("nested too deeply", *parser.place()) from None
    except Exception as error:  # whatever a parser trips over is a program it cannot take, never our user's traceback
        raise ParseFailure(f"{type(error).__name__}: {error}", *parser.place()) from error


class _Stop(ParseError):  # type: ignore[misc]
    def __init__(self, message: str, file: str, line: int, col: int) -> None:
        super().__init__(message)
        self.message, self.file, self.line, self.col = message, file, line, col


class _Lexer(CLexer):  # type: ignore[misc]
    """Gives each token the file and column of the original text."""

    files: tuple[str, ...] = ()
    columns: Columns | None = None
    _place: tuple[str, int]
    _seen: dict[str, int]
    _counts: dict[tuple[str, int], dict[str, int]]

    def _make_token(self, tok_type: str, value: str, pos: int) -> Any:
        token = super()._make_token(tok_type, value, pos)
        token.filename = self.real_file(token.filename)
        place = (token.filename, token.lineno)
        if place != self._place:
            self._place, self._seen = place, self._counts.setdefault(place, {})
        ordinal = self._seen.get(value, 0)
        self._seen[value] = ordinal + 1
        token.column = self.columns.find(*place, value, ordinal) if self.columns else 0
        return token

    def _init_state(self) -> None:
        super()._init_state()
        self._place, self._seen, self._counts = ("", 0), {}, {}

    def real_file(self, index: str) -> str:
        return self.files[int(index)] if index.isdigit() and int(index) < len(self.files) else index


class _Parser(CParser):  # type: ignore[misc]
    def __init__(self, cleaned: Cleaned, columns: Columns, gnu: bool) -> None:
        super().__init__(lexer=_Lexer)
        lexer: Any = self.clex
        lexer.files, lexer.columns = cleaned.files, columns
        for word in ("__typeof__", "__typeof", *(["typeof"] if gnu else [])):
            lexer._keyword_map[word] = "TYPEOF"
        self._in_declaration = False

    def place(self) -> tuple[str, int, int]:
        """Where the parser stands."""
        buffered: Any = getattr(self._tokens, "_buffer", [])
        last = next((t for t in reversed(buffered) if t is not None), None)
        return (last.filename, last.lineno, last.column) if last else ("", 0, 0)

    def _parse_error(self, msg: str, coord: Coord | str | None) -> NoReturn:
        if isinstance(coord, Coord):
            raise _Stop(msg, self.clex.real_file(coord.file), coord.line, coord.column or 0)
        raise _Stop(msg, *self.place())

    # A name is in scope from its declarator on (C17 6.2.1p7), so its own initialiser and later declarators see it.

    def _parse_decl_body_with_spec(self, spec: Any, saw_type: bool) -> Any:
        outer = self._in_declaration
        self._in_declaration = "typedef" not in spec["storage"] and len(self._scope_stack) > 1
        try:
            return super()._parse_decl_body_with_spec(spec, saw_type)
        finally:
            self._in_declaration = outer

    def _parse_init_declarator(self, id_only: bool = False) -> Any:
        declarator = self._parse_id_declarator() if id_only else self._parse_declarator()
        if self._in_declaration:
            tail: Any = declarator
            while not isinstance(tail, c_ast.TypeDecl):
                tail = tail.type
            if tail.declname:
                self._add_identifier(tail.declname, tail.coord)
        if self._accept("EQUALS"):
            return {"decl": declarator, "init": self._parse_initializer()}
        return {"decl": declarator}

    def _parse_conditional_expression(self) -> c_ast.Node:
        cond = self._parse_binary_expression()
        if not self._accept("CONDOP"):
            return cond
        same = self._peek_type() == "COLON"
        then = c_ast.ID(SAME, cond.coord) if same else self._parse_expression()
        self._expect("COLON")
        return c_ast.TernaryOp(cond, then, self._parse_conditional_expression(), cond.coord)

    def _parse_constant_expression(self) -> c_ast.Node:
        first = self._parse_conditional_expression()
        if not self._accept("ELLIPSIS"):
            return first
        return c_ast.TernaryOp(first, c_ast.ID(TO, first.coord), self._parse_conditional_expression(), first.coord)
