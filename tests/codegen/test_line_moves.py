"""A pointer that leaves the line by far ends the lane in every form, also where it might be another object's; near the line
the filter's bytes are printed."""

from __future__ import annotations

import pytest

from ..compiler.regions import codes, cuda, mapper
from .kernels import FAILED, HERE, build_filter, build_lane, emit, run

OUTSIDE_LINE = 12  # hd::Status
PROGRAM = HERE / "programs" / "moves.c"
FORMS = "abcdefghjklmnop"  # of programs/moves.c; i: a struct larger than any line


def test_forms_of_moves() -> None:
    lane, filter = build_lane(emit(PROGRAM)), build_filter(PROGRAM)
    near = b"".join(b"%c%d abcdefghijklmnopqrstuvwxyz\n" % (form, 5 if form != ord("e") else 0) for form in FORMS.encode())
    near += b"i99 " + b"x" * 200_100 + b"\nB3\nB-0\n"
    done = run(lane, near)
    assert (done.status, done.out) == (0, run(filter, near).out)
    for form in FORMS:
        far = (-40_000, -1) if form == "e" else (40_000, 3_000_000)
        for by in far:
            assert run(lane, b"%s%d abc\n" % (form.encode(), by)).status == FAILED + OUTSIDE_LINE, (form, by)
    assert run(lane, b"i70000\n").status == FAILED + OUTSIDE_LINE


PRINT = 'strcpy(k, "k"); printf("%s\\t%d\\n", k, v);'
TABLE = "static char t[8] = {97, 98};"
NUMBERS = {
    "a union with a number": "union { char *p; long n; } u; u.p = n > 5 ? line : t; u.n += 70000; v = *u.p;",
    "a copy in a number": "long q; char *p = n > 5 ? line : t; memcpy(&q, &p, 8); q += 70000; memcpy(&p, &q, 8); v = *p;",
    "a cast to numbers": "char *p = n > 5 ? line : t; *(long *)&p += 70000; v = *p;",
}


@pytest.mark.parametrize("body", NUMBERS.values(), ids=NUMBERS)
def test_a_place_in_the_line_that_is_moved_as_a_number(body: str) -> None:
    assert codes(mapper(body + PRINT, helpers=TABLE)) == {"HD690"}


@pytest.mark.parametrize("body", [
    "long q = (long)line + 70000; char *p; memcpy(&p, &q, 8); v = *p;",
    "union { char *p; long n; } u; u.n = (long)line + 70000; v = *u.p;",
    "union { char *p; long n; } u; u.n = (long)line + 70000; *u.p = 1; v = 1;",
])
def test_a_pointer_made_of_a_number(body: str) -> None:
    assert codes(mapper(body + PRINT)) == {"HD225"}


def test_moves_where_every_access_is_the_lines_are_not_checked() -> None:
    """The access itself is exact there."""
    text = cuda(mapper("char *p = line; v = atoi(line); p += v; for (; *p; p++) v += *p; v += line[v];" + PRINT))
    assert "hd::in_line(hd, " in text and "hd::move" not in text
    text = cuda(mapper("v = t[0]; if (n > 3) line[0] = 1; " + PRINT, helpers=TABLE))
    assert "hd::move" not in text


@pytest.mark.parametrize("body", [
    "char *p = line; p--; v = *p;", "char *p = line; if (n > 3) p--; v = *p;", "char *p = line + 1; p -= 2; v = *p;",
    "v = 0; char *p = strchr(line, 'x'); if (p) { p--; v = *p; }",
])
def test_a_read_before_the_line_is_checked(body: str) -> None:
    assert "hd::in_line(hd, *p" in cuda(mapper(body + PRINT))
