"""What is known of the order of numbers: as little of it as keeps an analysis short."""

from __future__ import annotations

from itertools import pairwise

from heterodoop.compiler.analysis.flow_order import Known
from heterodoop.compiler.analysis.objects import Local


def test_a_chain_of_copies_is_known_in_part() -> None:
    cells = [Local(f"f{i}", "a").cell for i in range(500)]
    known = Known()
    for source, cell in pairwise(cells):
        known = known.moved(cell, source, 0)
    assert (cells[9], cells[0]) in known.order and (cells[0], cells[9]) in known.order
    assert len(known.order) < 1500, "500 functions, each called by the one before it, took minutes and gigabytes"
