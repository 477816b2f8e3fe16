"""The driver's work folder: nobody else's programs run from it, nothing that no driver made is removed, none is shared."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from heterodoop.driver.job.work import MARKER, WorkFolder
from heterodoop.driver.wire import control, place
from heterodoop.driver.wire.place import DriverPlace
from heterodoop.errors import UsageError

from ..client import INSTALLED, Attempt
from ..running import Driver, driver_folder, wait_for

OTHER = 65534
TWO_USERS = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
PARTS = ("store", "folders")


def refused(folder: Path, text: str, code: str) -> None:
    with pytest.raises(UsageError, match=text) as caught, WorkFolder(folder, PARTS):
        raise AssertionError
    assert caught.value.code == code


def test_it_is_made_private_and_removed_at_the_end(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with WorkFolder(tmp_path / "new" / "w", PARTS) as work:
            assert sorted(os.listdir(work.path)) == sorted([MARKER, *PARTS])
            for path in (work.path, work.path / "store"):
                assert stat.S_IMODE(path.stat().st_mode) == 0o700
            (work.path / "store" / "x").write_text("x")
    finally:
        os.umask(old)
    assert not (tmp_path / "new" / "w").exists()


def test_what_an_earlier_driver_left_is_removed(tmp_path: Path) -> None:
    first = WorkFolder(tmp_path / "w", PARTS)
    first.__enter__()
    (tmp_path / "w" / "store" / "x").write_text("x")
    (tmp_path / "w" / "link").symlink_to(tmp_path)
    first._close()  # as a killed process leaves it
    with WorkFolder(tmp_path / "w", PARTS):
        assert os.listdir(tmp_path / "w" / "store") == [] and not (tmp_path / "w" / "link").exists()
    assert tmp_path.exists()


def test_what_no_driver_made_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir(mode=0o700)
    (tmp_path / "w" / "precious.txt").write_text("thesis")
    refused(tmp_path / "w", "no driver made it: it holds 'precious.txt'", "HD668")
    assert (tmp_path / "w" / "precious.txt").read_text() == "thesis" and len(os.listdir(tmp_path / "w")) == 1
    (tmp_path / "w" / "precious.txt").unlink()
    with WorkFolder(tmp_path / "w", PARTS):  # an empty one may be used
        pass


def test_two_drivers_do_not_share_one(tmp_path: Path) -> None:
    with WorkFolder(tmp_path / "w", PARTS):
        refused(tmp_path / "w", f"in use by another driver, process {os.getpid()}", "HD668")
        assert (tmp_path / "w" / "store").is_dir()


def test_folders_that_others_could_change_are_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    refused(tmp_path / "open", "mode 0755", "HD667")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    refused(tmp_path / "shared" / "w", "others may write", "HD667")
    (tmp_path / "link").symlink_to(tmp_path / "shared")
    refused(tmp_path / "link", "a link is none", "HD667")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file", "no folder", "HD667")
    refused(tmp_path / "file" / "w", "Not a directory|File exists", "HD667")


def test_what_a_tidier_removed_is_made_again(tmp_path: Path) -> None:
    with WorkFolder(tmp_path / "w", PARTS) as work:
        assert work.ensure()
        (work.path / "store").rmdir()
        assert not work.ensure() and work.ensure() and (work.path / "store").is_dir()
        shutil.rmtree(work.path)
        assert not work.ensure() and work.ensure()
        refused(work.path, "in use", "HD668")  # it holds the new one
        (work.path / MARKER).unlink()
        (work.path / "store").rmdir()
        (work.path / "folders").rmdir()
        assert not work.ensure()
    assert not work.path.exists()


def test_another_folder_in_its_place_is_not_used(tmp_path: Path) -> None:
    with WorkFolder(tmp_path / "w", PARTS) as work:
        (work.path / "store").rename(work.path / "old")
        (work.path / "store").mkdir()
        with pytest.raises(UsageError, match="store is not the folder that the driver made") as caught:
            work.ensure()
        assert caught.value.code == "HD667"
        work.path.rename(tmp_path / "mine")
        (work.path).mkdir(mode=0o700)
        (work.path / "theirs").write_text("")
        with pytest.raises(UsageError, match="w is not the folder that the driver made"):
            work.ensure()
    assert (tmp_path / "w" / "theirs").exists()  # it is not removed either


def test_where_it_lies_by_default(tmp_path: Path) -> None:
    """Nothing of value in a /tmp that is everybody's."""
    environ = {"HOME": str(tmp_path)}
    own = control.work_folder(DriverPlace(tmp_path / "d", 8041), "", environ)
    assert own == tmp_path / "d" / "driver-8041.work"
    for folder in (place.shared_folder(), Path("/run/heterodoop-driver")):
        found = control.work_folder(DriverPlace(folder), "", environ)
        assert found.parts[-3] == "driver" and found.name == "driver" and not found.is_relative_to("/tmp/heterodoop-0")
        assert found.is_relative_to(tmp_path / ".local/state/heterodoop") or found.parts[1:3] == ("var", "lib")
    assert control.work_folder(DriverPlace(tmp_path), "/w", environ) == Path("/w/driver")


def test_a_start_that_would_empty_a_folder_of_something_else(cache: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "home" / "driver").mkdir(parents=True, mode=0o700)
    (tmp_path / "home" / "driver" / "precious.txt").write_text("thesis")
    with driver_folder(cache) as driver:
        done = driver.start("--work", tmp_path / "home")
    assert done.status == 2 and "[HD668]" in done.message and "precious" in done.message
    assert (tmp_path / "home" / "driver" / "precious.txt").read_text() == "thesis"


def served(driver: Driver, attempt: Attempt) -> str:
    with driver.client() as client:
        kind = client.map(attempt).kind
        if kind == "result":
            client.send(INSTALLED)
        return kind


def test_a_second_driver_with_the_same_work_folder_is_refused_and_the_first_goes_on(
    cache: dict[str, str], tmp_path: Path, attempt: Attempt,
) -> None:
    with driver_folder(cache) as first, driver_folder(cache) as second, first.serve("--work", tmp_path / "w") as process:
        done = second.start("--work", tmp_path / "w")
        assert done.status == 2 and "[HD668]" in done.message and f"process {first.pid()}" in done.message
        assert served(first, attempt) == "result"
        shutil.rmtree(tmp_path / "w" / "driver")  # a tidier
        again = Attempt(attempt.bundle, attempt.path, length=attempt.length, job="job_1_0002")
        assert served(first, again) == "result"
        assert wait_for(lambda: first.events("work_made_again")) and first.events("store")
        first.stop()
        assert process.wait(20) == 0 and not (tmp_path / "w" / "driver").exists()


def as_other(*words: str) -> None:
    subprocess.run(["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", *words], check=True, timeout=30)


@TWO_USERS
def test_a_work_folder_that_another_user_made_first(cache: dict[str, str]) -> None:
    """He could put his programs into the driver's place."""
    base = Path(tempfile.mkdtemp(prefix="hdd-", dir="/tmp"))
    base.chmod(0o1777)
    as_other("sh", "-c", f"umask 0; mkdir '{base}/w'")
    with driver_folder(cache) as driver:
        done = driver.start("--work", base / "w")
    assert done.status == 2 and "[HD667]" in done.message and f"uid {OTHER}" in done.message
    shutil.rmtree(base)
