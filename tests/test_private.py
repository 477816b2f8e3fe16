"""Folders that programs are run from, and files whose name came from elsewhere: what others could do is refused first."""

from __future__ import annotations

import itertools
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodoop import private
from heterodoop.errors import ToolError, UsageError
from heterodoop.private import Held, check, state_folder, why_unsafe
from heterodoop.regular import open_regular, read_regular
from heterodoop.toolchain import cache

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a folder to another user")
OTHER = 65534


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A folder with two parents of its own."""
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True, mode=0o700)
    return folder


def test_a_folder_of_our_own_is_safe(deep: Path) -> None:
    assert why_unsafe(deep) == "" and why_unsafe(deep, private.OTHERS_ANYTHING) in ("", why_unsafe(deep, 0o077))
    deep.chmod(0o755)
    assert why_unsafe(deep) == "" and "mode 0755" in why_unsafe(deep, private.OTHERS_ANYTHING)


UNSAFE: dict[str, tuple[Callable[[Path], object], str]] = {
    "everybody writes": (lambda deep: deep.chmod(0o777), "mode 0777"),
    "the sticky bit does not help the folder itself": (lambda deep: deep.chmod(0o1777), "mode 1777"),
    "everybody writes above": (lambda deep: deep.parent.chmod(0o777), "others may write"),
    "everybody writes two above": (lambda deep: deep.parent.parent.chmod(0o757), "others may write"),
    "a file": (lambda deep: (deep.rmdir(), deep.write_text("")), "no folder"),
    "a link": (lambda deep: (deep.rename(deep.with_name("d")), deep.symlink_to(deep.with_name("d"))), "a link is none"),
}


@pytest.mark.parametrize("kind", UNSAFE)
def test_folders_that_others_could_change(deep: Path, kind: str) -> None:
    make, text = UNSAFE[kind]
    make(deep)
    assert text in why_unsafe(deep)
    with pytest.raises(UsageError, match=text) as caught:
        check(deep, "programs")
    assert caught.value.code == "HD667" and "no place for programs" in caught.value.message


def test_a_shared_parent_with_the_sticky_bit_is_none_that_others_could_change(deep: Path) -> None:
    deep.parent.chmod(0o1777)
    assert why_unsafe(deep) == ""


@ROOT_ONLY
@pytest.mark.parametrize("above", [0, 1, 2])
def test_a_folder_or_a_parent_of_another_user(deep: Path, above: int) -> None:
    os.chown([deep, *deep.parents][above], OTHER, OTHER)
    assert f"belongs to uid {OTHER}" in why_unsafe(deep)


@ROOT_ONLY
def test_a_group_of_others_may_not_write(deep: Path) -> None:
    os.chown(deep.parent, 0, OTHER)
    deep.parent.chmod(0o770)
    assert "others may write" in why_unsafe(deep)


def test_a_group_of_ones_own_may_write(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "_own_group", lambda gid: gid == deep.stat().st_gid)
    deep.parent.chmod(0o775)
    assert why_unsafe(deep) == ""


def test_links_above_are_followed_and_checked(deep: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a/b/../b")
    assert why_unsafe(tmp_path / "link" / "c") == ""
    deep.parent.chmod(0o777)
    assert "others may write" in why_unsafe(tmp_path / "link" / "c")
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError):
        why_unsafe(tmp_path / "round" / "c")


def test_a_user_without_a_home_is_told_so(tmp_path: Path) -> None:
    assert state_folder({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == Path("/s/heterodoop")
    assert state_folder({"XDG_STATE_HOME": "s", "HOME": str(tmp_path)}) == tmp_path / ".local/state/heterodoop"
    for home in ("", "relative", str(tmp_path / "none")):
        with pytest.raises(UsageError, match="no home") as caught:
            state_folder({"HOME": home})
        assert caught.value.code == "HD667"


def test_the_cache_is_not_where_others_could_put_libraries(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(deep / "none"))
    assert cache.folder({"XDG_CACHE_HOME": str(deep)}) == deep / "heterodoop"
    deep.parent.chmod(0o777)
    with pytest.raises(ToolError) as caught:
        cache.folder({"XDG_CACHE_HOME": str(deep)})
    assert caught.value.code == "HD516"


def test_another_folder_in_its_place_is_seen(deep: Path) -> None:
    held = Held(deep)
    assert held.there
    deep.rmdir()
    assert not held.there
    deep.mkdir()
    assert not held.there
    held.close()
    with pytest.raises(OSError):
        deep.rmdir()
        deep.symlink_to(deep.parent)
        Held(deep)


@pytest.mark.parametrize(("make", "text"), [
    (os.mkfifo, "named pipe"), (lambda path: os.symlink("/dev/zero", path), "a device"), (os.mkdir, "a folder"),
])
def test_only_regular_files_are_opened(tmp_path: Path, make: Callable[[Path], object], text: str) -> None:
    make(tmp_path / "x")
    for read in (open_regular, lambda path: read_regular(path, 10)):
        with pytest.raises(OSError, match=text):
            read(tmp_path / "x")


@given(st.integers(0, 40), st.integers(0, 40))
def test_no_more_is_read_than_may_be(tmp_path_factory: pytest.TempPathFactory, size: int, most: int) -> None:
    path = tmp_path_factory.getbasetemp() / "sized"
    path.write_bytes(bytes(size))
    if size <= most:
        assert read_regular(path, most) == bytes(size)
    else:
        with pytest.raises(OSError, match=f"larger than the {most} bytes"):
            read_regular(path, most)
    assert stat.S_ISREG(path.stat().st_mode)


MODES = (0o755, 0o775, 0o777, 0o1777)


def attacked(program: Path, levels: list[Path]) -> list[str]:
    """What another user gets done, who wants to have another program run under this path. He tries all of it."""
    def swaps() -> Iterator[tuple[str, Callable[[], object]]]:
        yield "wrote", lambda: program.write_text("his")
        yield "removed", lambda: program.unlink()
        yield "put", lambda: (program.parent / "his").write_text("his")
        for at in levels:
            yield f"moved {at.name}", lambda at=at: at.rename(at.with_name("away"))  # type: ignore[misc]
            yield f"took {at.name}", lambda at=at: at.symlink_to("/")  # type: ignore[misc]
            yield f"opened {at.name}", lambda at=at: at.chmod(0o777)  # type: ignore[misc]

    done = []
    for what, swap in swaps():
        with suppress(OSError):
            swap()
            done.append(what)
    return done


def as_another_user(attack: Callable[[], list[str]]) -> list[str]:
    read, write = os.pipe()
    if not (child := os.fork()):
        os.setgroups([])
        os.setgid(OTHER)
        os.setuid(OTHER)
        os.write(write, "\n".join(attack()).encode())
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as said:
        done = said.read().splitlines()
    os.waitpid(child, 0)
    return done


@ROOT_ONLY
@pytest.mark.parametrize("group", [0, OTHER])
def test_what_passes_the_check_cannot_be_changed_by_another_user_later(group: int) -> None:
    """So it makes no difference that a program is run by its path after the folder has been looked at: nobody but the user
    and root has a moment in which he could put another one there. All modes of a folder and of two parents, below /tmp."""
    passed = taken = 0
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        os.chmod(top, 0o755)
        for number, modes in enumerate(itertools.product(MODES, repeat=3)):
            levels = [base := Path(top, str(number)), base / "a", base / "a" / "b"]
            levels[-1].mkdir(parents=True)
            (program := levels[-1] / "program").write_text("ours")
            for level, mode in zip(levels, modes, strict=True):
                os.chown(level, 0, group)
                level.chmod(mode)
            safe = not why_unsafe(levels[-1])
            done = as_another_user(lambda: attacked(program, levels))  # noqa: B023
            assert not (safe and done), f"{[oct(mode) for mode in modes]}: {done}"
            passed, taken = passed + safe, taken + bool(done)
    assert passed >= 4 and taken >= 32, "both kinds were tried"
