"""The cache of what compilers made: entries are whole or made again, and a build that was killed leaves nothing for long."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heterodoop import scratch
from heterodoop.toolchain import cache

from ..soak.damage import spoil
from ..soak.faults import AT_REST
from ..support import ROOT, environment

KILLED = """
import os, signal, sys
from pathlib import Path
from heterodoop.toolchain import cache
cache.get(Path(sys.argv[1]), lambda partial: (partial.write_bytes(b"half"), os.kill(os.getpid(), signal.SIGKILL)))
"""


def made(folder: Path) -> tuple[Path, list[str]]:
    """An entry, and what was built for it."""
    built: list[str] = []

    def make(partial: Path) -> None:
        built.append(partial.name)
        partial.write_bytes(bytes(range(256)) * 40)

    return cache.get(folder / "entry.so", make), built


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    assert made(tmp_path)[1] == ["entry.so"] and made(tmp_path)[1] == []


@pytest.mark.parametrize("how", [how for how in AT_REST if how != "zero"])
@pytest.mark.parametrize("name", ["entry.so", "entry.so.sum"])
def test_an_entry_that_is_not_what_was_made_is_made_again(tmp_path: Path, name: str, how: str) -> None:
    path, _ = made(tmp_path)
    whole = path.read_bytes()
    spoil(tmp_path / name, how, random.Random(3))
    assert made(tmp_path) == (path, ["entry.so"]) and path.read_bytes() == whole
    assert made(tmp_path)[1] == [] and sorted(os.listdir(tmp_path)) == ["entry.so", "entry.so.sum"]


@pytest.mark.parametrize("lost", [("entry.so",), ("entry.so.sum",), ("entry.so", "entry.so.sum")])
@pytest.mark.parametrize("now", [b"", bytes(10240)])
def test_an_entry_whose_bytes_a_power_cut_took_is_made_again(tmp_path: Path, lost: tuple[str, ...], now: bytes) -> None:
    path, _ = made(tmp_path)
    whole = path.read_bytes()
    for name in lost:
        (tmp_path / name).write_bytes(now)
    assert made(tmp_path)[1] == ["entry.so"] and path.read_bytes() == whole


def test_an_entry_is_looked_at_once_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path)
    made(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_sum", lambda path: pytest.fail("it is read again"))
        assert made(tmp_path)[1] == []
    (tmp_path / "entry.so").unlink()
    assert made(tmp_path)[1] == ["entry.so"]


def test_what_a_killed_build_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    words = [sys.executable, "-c", KILLED, str(tmp_path / "entry.so")]
    assert subprocess.run(words, env=environment(), cwd=ROOT, check=False).returncode == -9
    assert any(name.endswith(scratch.SUFFIX) for name in os.listdir(tmp_path))
    made(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["entry.so", "entry.so.sum"]


def test_what_a_build_left_that_was_killed_at_its_end_is_removed_where_its_entry_is_used(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / f".making-abcdefgh{scratch.SUFFIX}").mkdir()
    cache._whole.clear()  # as another process sees it
    made(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["entry.so", "entry.so.sum"]


def test_a_build_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    def make(partial: Path) -> None:
        cache.get(tmp_path / "other.so", lambda path: path.write_bytes(b"b") and None)
        partial.write_bytes(b"a")

    assert cache.get(tmp_path / "entry.so", make).read_bytes() == b"a"


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".sum")


def test_entries_that_were_not_used_for_the_longest_time_make_room(tmp_path: Path) -> None:
    now, size = time.time(), 8192
    for name, unused, made_before in (("a", 3, 9), ("b", 5, 8), ("c", 7, 7), ("d", 0, 9)):  # hours
        path = cache.get(tmp_path / name, lambda partial: partial.write_bytes(bytes(range(1, 129)) * (size // 128)))
        os.utime(path, (now - unused * 3600, now - made_before * 3600))
    (tmp_path / "other").mkdir()
    cache.limit(tmp_path, 4 * size)
    assert entries(tmp_path) == ["a", "b", "c", "d", "other"], "they take no more than they may"
    cache.limit(tmp_path, 4 * size - 1)
    assert entries(tmp_path) == ["a", "d", "other"]
    cache.limit(tmp_path, size)
    assert sorted(os.listdir(tmp_path)) == ["d", "d.sum", "other"], "nobody is about to open what was removed"


def test_an_entry_that_is_found_is_used(tmp_path: Path) -> None:
    path, _ = made(tmp_path)
    os.utime(path, (0, 5))
    assert made(tmp_path)[1] == [] and time.time() - path.stat().st_atime < 60 and path.stat().st_mtime == 5


def test_a_process_makes_room_with_its_first_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 0)
    old, _ = made(tmp_path / "x")
    os.utime(old, (0, 0))
    cache._limited.discard(tmp_path / "x")
    assert cache.get(tmp_path / "x" / "new", lambda partial: partial.write_bytes(b"1")).exists() and not old.exists()


@pytest.mark.parametrize("settled", [2, -1000])
def test_a_tree_is_the_names_and_bytes_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: int) -> None:
    monkeypatch.setattr(cache, "_SETTLED_NS", settled * 10**9)
    for name, text in {"a.h": "1", "sub/b.h": "2", "sub.h": "3", "c.txt": "4"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    first = cache.tree(tmp_path, (".h",))
    assert first[::2] == ["a.h", "sub.h", "sub/b.h"] and first == cache.tree(tmp_path, (".h",))
    (tmp_path / "sub" / "b.h").write_text("5")
    os.utime(tmp_path / "sub" / "b.h", (1, 1))
    second = cache.tree(tmp_path, (".h",))
    assert second[:5] == first[:5] and second[5] != first[5] and cache.tree(tmp_path / "nothing", (".h",)) == []


def test_where_a_program_lay_is_no_part_of_its_text() -> None:
    text = b'// made from %s/map.c\n#include "lane.cuh"\n#line 12 "%s/map.c"\nint f() { return 1; } // one\n'
    here, there = (cache.placeless(text % ((place,) * 2)) for place in (b"/home/a", b'/srv/b \\"c\\"'))
    assert here == there and here.splitlines()[1:] == [b'#include "lane.cuh"', b"#line 12", b"int f() { return 1; } // one"]
    assert cache.placeless(text.replace(b"12", b"13")) != cache.placeless(text)
    assert cache.placeless(b"// goes on \\\nint g();\n").startswith(b"// goes on")
