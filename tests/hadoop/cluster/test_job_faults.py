"""Whatever breaks while a job runs, its output is right: drivers, workers, map attempts, nodes, results."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from ...support import cli_here
from .site import CONTAINERS, UBER, Book, Result, Site, drivers

SLOW = ("-D", "tests.gpu.delay=4")  # seconds that a GPU task takes longer: time to strike
SLOWER = ("-D", "tests.gpu.delay=8")  # time to strike three times
# A node has 2048 MiB: one such map, also beside the ApplicationMaster.
ON_ALL_NODES = ("-D", "mapreduce.map.memory.mb=1536", "-D", "mapreduce.job.maps=3")


@pytest.mark.parametrize(("fault", "more"), [
    ("hang", ("-D", "heterodoop.driver.silence.ms=3000")),
    # All of the data, but nobody hears that it is installed, which the plug-in may not notice; the second finds no driver.
    ("die@sent", ("-D", "heterodoop.group.bytes=0", "-D", "mapreduce.job.maps=2")),
])
def test_a_bad_result_is_made_again_on_the_cpu(site: Site, words: Path, book: Book, fault: str, more: tuple[str, ...]):
    ports = site.node_ports()
    with drivers(ports, faults=dict.fromkeys(ports, fault)) as started:
        done = site.submit(words, [book.path], *UBER, "--policy", "gpu-only", *more, *started.options)
    assert done.parts == book.wanted(1) and done.sides[1] > 0 and done.report["failed_attempts"] == 0
    if fault == "hang":
        assert done.sides[0] == 0 and done.plugin("FALLBACKS") > 0


def test_every_node_s_driver_fails_in_another_way(site: Site, words: Path, book: Book):
    """Half of a result, then the end of the connection; a byte that is another one; a driver that dies with a task."""
    ports = site.node_ports()
    with drivers(ports, faults=dict(zip(ports, ("cut", "corrupt", "die"), strict=True))) as started:
        done = site.submit(words, [book.path], "-r", 1, *ON_ALL_NODES, "--policy", "gpu-only", *started.options)
    assert done.parts == book.wanted(1)
    assert done.sides == (0, done.report["maps"]) and done.plugin("FALLBACKS") >= 3 and done.report["failed_attempts"] == 0


def test_driver_worker_and_map_attempt_are_killed(site: Site, words: Path, book: Book):
    with drivers(site.node_ports()) as started:
        run = Detached(site, words, book, 1, *ON_ALL_NODES, *SLOWER, "--policy", "gpu-only", *started.options)
        busy = until(lambda: [port for port in started.ports if started.status(port)["queue"]["running"]])
        until(lambda: started.status(busy[0])["knowledge"]["jobs"])
        os.kill(int(started.status(busy[0])["gpus"][0]["pid"]), signal.SIGKILL)
        victim = until(lambda: map_jvms(run.job))[-1]
        os.kill(victim, signal.SIGKILL)
        os.kill(int(started.status(busy[-1])["pid"]), signal.SIGKILL)
        done = run.end()
    assert done.parts == book.wanted(1)
    assert done.report["failed_attempts"] >= 1 and done.report["state"] == "SUCCEEDED"


def test_a_node_manager_is_killed(site: Site, words: Path, book: Book):
    with drivers(site.node_ports()) as started:
        run = Detached(site, words, book, 1, *ON_ALL_NODES, *SLOW, "--policy", "gpu-only", *started.options)
        victim = until(lambda: [port for port in started.ports if started.status(port)["counts"].get("installed")])[-1]
        name = f"nodemanager{started.ports.index(victim) + 1}"
        site.cluster.kill(name)
        try:
            done = run.end()
        finally:
            site.cluster.restart(name)
    assert done.parts == book.wanted(1) and done.report["state"] == "SUCCEEDED"


def test_an_attempt_that_was_killed_is_none_that_failed(site: Site, words: Path):
    """Only the second try of the one that failed keeps off the GPU."""
    path = site.put("two-splits", b"a word\n" * 4000)
    with drivers(site.node_ports()) as started:
        slow = ("-D", "tests.gpu.delay=25", "-D", "mapreduce.job.maps=2", *CONTAINERS)
        output = site.output()
        done = cli_here("submit", words, "-i", path, "-o", output, "-r", 1, "--detach", "--policy", "gpu-only", *slow,
                        *started.options)
        job = done.out.decode().strip()
        until(lambda: sum(started.status(port)["counts"].get("answered_gpu", 0) for port in started.ports) == 2)
        os.kill(map_jvms(job, "000001_0")[0], signal.SIGKILL)
        argv = [site.cluster.command("mapred"), "job", "-kill-task", f"attempt_{job.removeprefix('job_')}_m_000000_0"]
        subprocess.run(argv, env=site.environment, check=True, capture_output=True)
        ended = site.ended(job, output)
    assert ended.parts == [b"a\t4000\nword\t4000\n"] and ended.sides == (1, 1)
    assert ended.plugin("DECLINED_RETRY") == 1 and ended.report["failed_attempts"] == 1


class Detached:
    """A job that runs while the test does something to it."""

    def __init__(self, site: Site, words: Path, book: Book, reducers: int, *options: object) -> None:
        self._site = site
        self._output = site.output()
        done = cli_here("submit", words, "-i", book.path, "-o", self._output, "-r", reducers, "--detach", *options)
        self.job = done.out.decode().strip()

    def end(self) -> Result:
        return self._site.ended(self.job, self._output)


T = TypeVar("T")


def until(look: Callable[[], T], seconds: float = 120) -> T:
    """The first result of `look` that is something."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)
    return found


def map_jvms(job: str, attempt_of: str = "") -> list[int]:
    """Pids of the job's map attempts on this machine. `attempt_of`: how what follows `m_` in the attempt's id begins."""
    attempt = re.compile(rf"attempt_{job.removeprefix('job_')}_m_{attempt_of}")
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                argv = Path("/proc", entry, "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if "java" in argv[0] and any(attempt.match(word) for word in argv):
                found.append(int(entry))
    return sorted(found)
