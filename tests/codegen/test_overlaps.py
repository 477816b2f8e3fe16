"""Copies whose source and target overlap end the lane; all others print what the filter prints: random places, lengths."""

from __future__ import annotations

import random
from pathlib import Path

from ..compiler.regions import cuda, mapper
from .kernels import FAILED, HERE, build_filter, build_lane, emit, run

OVERLAP = 14  # hd::Status
OPERATIONS = "mhcnkabspf"


def _ranges(op: str, to: int, start: int, n: int) -> tuple[int, int, int, int]:
    """(target, bytes written, source, bytes read) of an operation of programs/overlap.c; 0 bytes: nothing is copied."""
    memory = [1] * 96
    memory[95] = memory[to + 3] = memory[start + n] = 0
    length, end = memory.index(0, start) - start, memory.index(0, to)
    most = min(length, n // 2)
    return {
        "m": (to, n, start, n), "h": (to, n, start, n), "c": (to, length + 1, start, length + 1),
        "n": (to, n + 2, start, length + 1), "k": (to, n // 2, start, most + (most < n // 2)),
        "a": (end, length + 1, start, length + 1), "b": (end, most + 1, start, most + (most < n // 2)),
        "s": (to, min(length + 3, 9), start, length + 1), "f": (to, length + 1, start, length + 1),
        "p": (to, len(str(n)) + max(length, 6) + 1, start, length + 1),
    }[op]


def _overlap(op: str, to: int, start: int, n: int) -> bool:
    target, written, source, read = _ranges(op, to, start, n)
    if op in "mhc" and to == start:
        return False
    return bool(written and read) and target < source + read and source < target + written


def test_what_overlaps_is_the_cpus_and_nothing_else(tmp_path: Path) -> None:
    rng = random.Random(4)
    program = HERE / "programs" / "overlap.c"
    text = emit(program).text
    lane, filter = build_lane(emit(program)), build_filter(program)
    cases = [(op, rng.randrange(50), rng.randrange(50), rng.randrange(12)) for op in OPERATIONS * 12]
    cases += [(op, 20, 20 + by, 5) for op in OPERATIONS for by in (-6, -5, -1, 0, 1, 5, 6)]
    records = {case: f"{case[0]} {case[1]} {case[2]} {case[3]}\n".encode() for case in cases}
    apart = [case for case in cases if not _overlap(*case)]
    assert 40 < len(apart) < len(cases) - 40 and "memcpy_apart(hd, " in text and "memmove_apart" not in text
    data = b"".join([*(records[case] for case in apart), b"v 3 5 9\n", b"v 5 3 9\n"])
    done = run(lane, data)
    assert (done.status, done.out) == (0, run(filter, data).out)
    for case in cases:
        if _overlap(*case):
            assert run(lane, records[case]).status == FAILED + OVERLAP, case


STRUCTS = r"""
#include <stdio.h>
struct six { char c[6]; };
int main(void) {
  char line[40], text[40];
  int to, from;
#pragma mapreduce mapper key(text) value(to)
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (sscanf(line, "%d %d", &to, &from) != 2) continue;
    snprintf(text, sizeof text, "abcdefghijklmnopqrstuvwxyz");
    *(struct six *)(text + to) = *(struct six *)(text + from);
    printf("%s\t%d\n", text, to);
  }
  return 0;
}
"""


def test_a_struct_that_is_assigned_onto_a_part_of_itself_is_the_cpus(tmp_path: Path) -> None:
    path = tmp_path / "structs.c"
    path.write_text(STRUCTS)
    lane, filter = build_lane(emit(path)), build_filter(path)
    apart = b"".join(b"%d %d\n" % (to, 10) for to in (0, 4, 10, 16, 20))
    done = run(lane, apart)
    assert (done.status, done.out) == (0, run(filter, apart).out)
    for to in (5, 9, 11, 15):
        assert run(lane, b"%d 10\n" % to).status == FAILED + OVERLAP


def test_structs_that_lie_apart_are_just_assigned() -> None:
    helpers = "struct s { int a, b; }; union u { struct { int x; struct s low; } one; struct s high; };"
    body = "struct s p = {1, 2}, q, t[2] = {{1, 2}}; q = p; t[0] = q; q.a = n; v = t[0].a;"
    assert "assign_apart" not in cuda(mapper(f'{body} strcpy(k, "k"); printf("%s\\t%d\\n", k, v);', helpers=helpers))
    body = "union u m = {{0}}; m.one.low.a = n; m.one.x = 1; m.one.low.b = 2; m.high = m.one.low; v = m.high.b;"
    assert "assign_apart" in cuda(mapper(f'{body} strcpy(k, "k"); printf("%s\\t%d\\n", k, v);', helpers=helpers))
