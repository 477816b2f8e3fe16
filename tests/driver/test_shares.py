"""Drivers of several users on one GPU: each has its part of the memory, and does its tasks beside the other's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from heterodoop.commands.driver import text_of
from heterodoop.driver.job.shares import Shares
from heterodoop.errors import ToolError, UsageError

from ..support import ROOT
from .client import INSTALLED, RUN, Attempt
from .conftest import OnCpu
from .running import running, slow, wait_for

GPU = ("GPU-1", "GPU 0 (A)")


def test_two_drivers_of_one_gpu(
    cache: dict[str, str], attempt: Attempt, on_cpu: OnCpu, sample: Path, tmp_path: Path,
) -> None:
    """The first is in the middle of a task that lasts; the second has its part, and its result is the CPU's bytes."""
    shared = {**cache, "HETERODOOP_GPU_SHARES": str(tmp_path / "shares")}
    words = ("--gpu-memory", "64m", "--gpu-memory-share")
    with running(*words, 60, environment=shared) as first, first.client() as busy:
        busy.offer(slow(attempt, 60))
        busy.send(RUN, *slow(attempt, 60).run())
        busy.until(attempt, lambda said: "delayed" in said["text"])
        (lease,) = first.status()["leases"]
        assert (lease["user"], lease["gpu"]) == ("me", 0)
        with running(*words, 30, environment=shared) as second:
            with second.client() as client:
                done = client.map(attempt)
                client.send(INSTALLED)
            assert (done.index, done.data) == on_cpu(attempt, sample)[1:]
            state = second.status()
            (gpu,) = state["gpus"]
            assert (gpu["share"], gpu["memory_limit"]) == (30, (64 << 20) * 30 // 100 // 2)
            assert gpu["others"] == [{"uid": os.getuid(), "pid": first.pid(), "share": 60}]
            whose = f"  memory: 30 % (9 MiB for tasks) by this driver; 60 % by process {first.pid()} of user"
            assert whose in text_of(state)
            assert "attempt_1_0001_m_000000_0 of me running on GPU 0: " in text_of(first.status())
            with pytest.raises(UsageError, match="11 % of the memory of GPU 0"):
                with Shares(tmp_path / "shares").held([("emulated-0", "GPU 0")], 11):
                    pass
            first.kill()
            wait_for(lambda: len(Shares(tmp_path / "shares").holders("emulated-0")) == 1)  # its threads end one by one
            with Shares(tmp_path / "shares").held([("emulated-0", "GPU 0")], 0) as rest:
                assert rest == 70


def test_a_part_is_given_out_once(tmp_path: Path) -> None:
    """Of many processes that ask for more than there is some are refused, whatever their order; the killed hold nothing."""
    shares = Shares(tmp_path)
    code = ("import sys; from pathlib import Path; from heterodoop.driver.job.shares import Shares\n"
            f"with Shares(Path({str(tmp_path)!r})).held([{GPU!r}], 40) as share: print(share, flush=True); sys.stdin.read()")
    asking = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         cwd=ROOT) for _ in range(3)
    ]
    said = [process.stdout.readline() for process in asking if process.stdout]
    assert sorted(said) == [b"", b"40\n", b"40\n"]
    assert sorted(holder.share for holder in shares.holders(GPU[0])) == [40, 40]
    with shares.held([GPU], 0) as rest:
        assert rest == 20
    for process in asking:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert shares.holders(GPU[0]) == [] and any(tmp_path.iterdir())
    with shares.held([GPU, ("GPU-2", "GPU 1")], 100):
        assert [path.name.split(".")[0] for path in sorted(tmp_path.iterdir())] == ["GPU-1", "GPU-2"]
        assert all(path.stat().st_mode & 0o777 == 0o644 for path in tmp_path.iterdir())
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be two users")
def test_drivers_of_two_users_see_each_other() -> None:
    """Root holds a part; another user is refused more than is left, by name, and cannot take root's file away."""
    with tempfile.TemporaryDirectory(prefix="hds-", dir="/tmp") as name:
        os.chmod(name, 0o755)
        folder = Path(name) / "shares"
        code = (
            "import os, sys; from pathlib import Path; os.setgroups([]); os.setgid(65534)\n"
            "from heterodoop.driver.job.shares import Shares\n"  # read as root: a checkout may be nobody else's
            "from heterodoop.errors import UsageError; os.setuid(65534)\n"
            f"shares = Shares(Path({str(folder)!r}))\n"
            f"try:\n  with shares.held([{GPU!r}], 50): pass\n"
            "except UsageError as error: print(error.message)\n"
            f"for file in Path({str(folder)!r}).iterdir():\n"
            "  try: file.unlink()\n"
            "  except PermissionError: print('stays')\n"
            f"with shares.held([{GPU!r}], 40) as share: print(share, flush=True); sys.stdin.read()"
        )
        with Shares(folder).held([GPU], 60):
            other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
            assert other.stdin and other.stdout
            said = [other.stdout.readline().decode() for _ in range(3)]
            assert said == [f"50 % of the memory of GPU 0 (A) cannot be had: 60 % by process {os.getpid()} of user 0\n",
                            "stays\n", "40\n"]
            assert {(one.uid, one.share) for one in Shares(folder).holders(GPU[0])} == {(0, 60), (65534, 40)}
            other.communicate()
        assert other.returncode == 0 and not any(folder.iterdir())


def test_files_that_no_driver_wrote_hold_nothing(tmp_path: Path) -> None:
    shares = Shares(tmp_path / "shares")
    with shares.held([GPU], 1):
        pass
    assert (tmp_path / "shares").stat().st_mode & 0o7777 == 0o1777
    for name, text in (("a", ""), ("b", "{"), ("c", '{"share": 99}')):
        (tmp_path / "shares" / f"GPU-1.{name}").write_text(text)
    (tmp_path / "shares" / "GPU-1.link").symlink_to("/dev/null")
    with shares.held([GPU], 100):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="cannot say who has which part.*Not a directory") as caught:
        with Shares(tmp_path / "file").held([GPU], 1):
            pass
    assert caught.value.code == "HD669"
