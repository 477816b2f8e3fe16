"""The bench of programs as they are found: what it says of some of them, and that each is what the bench says it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench import found

FEW = ("ip_ranges", "stop_words_hash")  # of the device with a file beside its input; of the filters


def test_every_program_is_plain_c_with_one_added_line() -> None:
    assert len(found.names()) >= 25
    for name in found.names():
        folder = found.PROGRAMS / name
        assert found.added_lines(folder) == 1, name
        assert (folder / found.INPUT).stat().st_size > 0, name
        mentioned = [path.name in (folder / "map.c").read_text() for path in found.side_files(folder)]
        assert all(mentioned), f"{name}: a file that it does not read"


def test_some_programs_in_every_way(tmp_path: Path) -> None:
    device, filters = rows = [found.tried(name, tmp_path / name) for name in FEW]
    assert all(row.equal == {"filter": True, "host": True, "device": True} for row in rows)
    assert device.device and device.done == {"filter", "host", "device"} and not device.why
    assert filters.done == {"filter"} and filters.why[0].startswith("map.c:35:14: ") and "[HD2" in filters.why[0]
    text = found.table(rows).splitlines()
    assert text[2].startswith("| ip_ranges | yes | yes | yes | 1 | ")
    assert text[3].startswith("| stop_words_hash | yes | - | - | 1 | ")
    assert text[-1] == "2 of 2 equal, 1 on the device"


def test_another_output_is_told() -> None:
    row = found.Found("x", 1, {"filter": True, "host": False, "device": True}, {"filter", "host", "device"}, 1.0)
    assert row.row() == "| x | yes | NO | yes | 1 | 1.0 |" and not row.right
    assert found.table([row]).endswith("\n0 of 1 equal, 1 on the device")
    row.equal["host"] = True
    assert row.right
    row.seconds = found.COMPILE_SECONDS + 1
    assert not row.right, "compiling took too long"
    row.seconds, row.done, row.why = 1.0, {"filter"}, ["something"]
    assert not row.right, "a reason without a place"


def test_what_plain_c_prints_is_sorted_by_key_alone(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "map.c").write_text('#include <stdio.h>\nint main(void) { puts("b\\t2\\nb\\t1\\na"); return 0; }\n')
    (folder / found.INPUT).write_text("")
    assert found.plain(folder, tmp_path) == b"a\t\nb\t2\nb\t1\n"
    (folder / "reduce.c").write_text("int main(void) { return 3; }\n")
    with pytest.raises(subprocess.CalledProcessError):
        found.plain(folder, tmp_path)
