"""A lock that says who holds it: by whom it is refused, whose name stays, and what a signature of before is worth."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from pathlib import Path

import pytest

from heterodoop.daemon import lock, processes
from heterodoop.daemon.lock import Owner, held, owner_of, released


class Refused(Exception):
    def __init__(self, owner: Owner | None) -> None:
        self.owner = owner


def test_the_owner_is_who_has_signed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert owner_of(path) is None
    with held(path, Refused) as mine:
        assert owner_of(path) is None
        with pytest.raises(Refused) as caught, held(path, Refused):
            raise AssertionError
        assert caught.value.owner is None
        mine.sign(port=7)
        owner = owner_of(path)
        assert owner and owner.process == processes.identify(os.getpid()) and owner.more == {"port": 7}
        with pytest.raises(Refused) as caught, held(path, Refused):
            raise AssertionError
        assert caught.value.owner == owner and str(owner).startswith(f"process {os.getpid()}, since 20")
        assert not released(path, 0.01)
    assert owner_of(path) is None and released(path, 0) and path.read_bytes() == b""


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held(path, Refused):
        begun = time.monotonic()
        with pytest.raises(Refused), held(path, Refused, 0.3):
            raise AssertionError
        assert time.monotonic() - begun >= 0.3
        free = threading.Event()

        def wait() -> None:
            with held(path, Refused, 30):
                free.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not free.wait(0.1)
    waiting.join(30)
    assert free.is_set()


def test_one_who_only_looks_keeps_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with open(path) as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        threading.Timer(lock.LOOK_SECONDS / 4, lambda: fcntl.flock(looking, fcntl.LOCK_UN)).start()
        with held(path, Refused):
            pass


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": "x", "start": 1, "since": 1}', '{"pid": 1, "start": 1}'])
def test_what_is_no_signature_names_nobody(tmp_path: Path, text: str) -> None:
    with held(tmp_path / "lock", Refused):
        (tmp_path / "lock").write_text(text)
        assert owner_of(tmp_path / "lock") is None


def test_a_signature_without_a_start_time_is_of_the_process_that_has_the_number(tmp_path: Path) -> None:
    with held(tmp_path / "lock", Refused):
        (tmp_path / "lock").write_text(json.dumps({"pid": os.getpid(), "since": 5.0}))
        assert owner_of(tmp_path / "lock") == Owner(processes.identify(os.getpid()), 5.0, {})


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError), held(tmp_path / "lock", Refused):
        raise AssertionError
    assert owner_of(tmp_path / "lock") is None and not (tmp_path / "elsewhere").exists()
