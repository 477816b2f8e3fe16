"""Kernel text becomes a library once: again only where the text, a header, a flag or the compiler is another."""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path

import pytest

from heterodoop import resources
from heterodoop.errors import ToolError
from heterodoop.toolchain import cache as build_cache
from heterodoop.toolchain import cc, emulated
from heterodoop.toolchain.emulated import emulated_module

KERNEL = '#include "answer.cuh"\nextern "C" int answer() { return ANSWER + (HD_EMULATED); }\n'


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small runtime/ in the place of ours, and an empty cache."""
    for name, text in {"device/answer.cuh": "#define ANSWER 41\n", "emu/cuda_emu.h": "#define HD_EMULATED 1\n"}.items():
        (tmp_path / "runtime" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "runtime" / name).write_text(text)
    monkeypatch.setattr(resources, "find", lambda kind, *parts: tmp_path.joinpath(kind, *parts))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "runtime"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "map.cu"
    path.write_text(KERNEL)
    return path


def answer(library: Path) -> int:
    return int(ctypes.CDLL(str(library)).answer())


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The compilers that are run from now on."""
    found: list[str] = []
    plain = cc.run
    monkeypatch.setattr(cc, "run", lambda argv, **more: (found.append(argv[0]), plain(argv, **more))[1])
    return found


def test_a_module_is_built_once(runtime: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch)
    first = emulated_module(source)
    assert answer(first) == 42 and emulated_module(source) == first and len(runs) == 1
    assert first.is_relative_to(build_cache.folder()) and len(list(first.parent.iterdir())) == 2


def test_text_headers_and_flags_make_another_module(runtime: Path, source: Path, tmp_path: Path) -> None:
    cache = tmp_path / "mine"
    first = emulated_module(source, cache)
    (runtime / "device" / "answer.cuh").write_text("#define ANSWER 6\n")
    second = emulated_module(source, cache)
    (runtime / "emu" / "cuda_emu.h").write_text("#define HD_EMULATED 100\n")
    third = emulated_module(source, cache)
    source.write_text(KERNEL.replace("ANSWER", "2 * ANSWER"))
    fourth = emulated_module(source, cache)
    fifth = emulated_module(source, cache, sanitize=True)
    assert [answer(m) for m in (first, second, third, fourth)] == [42, 7, 106, 112]
    assert len({first, second, third, fourth, fifth}) == 5 and first.is_relative_to(cache)
    assert b"__asan_init" in fifth.read_bytes() and b"__asan_init" not in fourth.read_bytes()


def test_another_compiler_makes_another_module(
    runtime: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = emulated_module(source)
    other = tmp_path / "my-g++"
    other.write_text('#!/bin/sh\nexec g++ "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("CXX", f"{other} -DMORE")
    assert emulated_module(source) != first


def test_what_the_compiler_refuses_is_told_with_the_place_in_the_users_program(runtime: Path, source: Path) -> None:
    source.write_text('#line 17 "word count.c"\nint f() { return nowhere; }\n')
    with pytest.raises(ToolError, match=r"word count.c:17:\d+: error: .*nowhere") as caught:
        emulated_module(source)
    assert caught.value.code == "HD513"
    assert not list((build_cache.folder() / "emulated").iterdir()), "nothing half made may stay"


def test_without_a_compiler(runtime: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolError, match="no-such-compiler") as caught:
        emulated_module(source)
    assert caught.value.code == "HD510" and "CXX" in caught.value.help


def test_builders_at_the_same_time_get_the_same_module(runtime: Path, source: Path) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(emulated_module(source))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and len(set(found)) == 1 and answer(found[0]) == 42
    assert sorted(p.name for p in found[0].parent.iterdir()) == [found[0].name, f"{found[0].name}.sum"]


# ------------------------------------------------------------------------------------------ the cache's folder


def test_the_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert build_cache.folder({"XDG_CACHE_HOME": str(tmp_path / "x")}) == tmp_path / "x" / "heterodoop"
    assert build_cache.folder({"XDG_CACHE_HOME": "relative", "HOME": str(tmp_path)}) == tmp_path / ".cache" / "heterodoop"
    assert build_cache.folder({}) == tmp_path / f"heterodoop-{os.getuid()}"
    assert (tmp_path / "x" / "heterodoop").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_may_write_is_never_loaded_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    open_folder = tmp_path / "heterodoop"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    shared = tmp_path / "tmp" / f"heterodoop-{os.getuid()}"
    shared.parent.mkdir()
    assert build_cache.folder({"XDG_CACHE_HOME": str(tmp_path)}) == shared
    shared.rmdir()
    shared.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ToolError, match="no folder to keep compiled kernels") as caught:
        build_cache.folder({"XDG_CACHE_HOME": str(tmp_path)})
    assert caught.value.code == "HD516"


def test_keys_tell_where_a_part_ends() -> None:
    assert build_cache.key(["ab", "c"]) != build_cache.key(["a", "bc"]) != build_cache.key(["abc"])
    assert build_cache.key([b"ab"]) == build_cache.key(["ab"])


def test_our_own_flags_are_those_of_the_filters() -> None:
    assert {f for f in cc.FILTER_FLAGS if not f.startswith("-O")} <= set(emulated.FLAGS)


def test_the_same_text_from_another_folder_is_the_same_module(runtime: Path, source: Path, tmp_path: Path) -> None:
    first = emulated_module(source)
    moved = tmp_path / "elsewhere" / "map.cu"
    moved.parent.mkdir()
    moved.write_text(f'// made from {moved}\n#line 1 "{moved}"\n{KERNEL}')
    second = emulated_module(moved)
    source.write_text(f'// made from {source}\n#line 1 "{source}"\n{KERNEL}')
    assert emulated_module(source) == second != first
