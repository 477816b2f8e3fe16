"""A cluster with jobs' data, and drivers on its nodes, as the tests of whole jobs use them. Not a test module."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from heterodoop.engine.terminal.progress import make_display
from heterodoop.hadoop.cluster import Cluster
from heterodoop.hadoop.job import client, follow, rest
from heterodoop.hadoop.job.told import report
from heterodoop.storage.webhdfs import Namespace

from ...driver import instrumented
from ...support import cli_here, environment, parts

# A small job in the application master itself: a third of the time, and the plug-in works there as anywhere.
UBER = ("-D", "mapreduce.job.ubertask.enable=true")
CONTAINERS = ("-D", "mapreduce.job.ubertask.enable=false")  # tasks that have their own, as those of larger jobs
PLUGIN_GROUP = "HeteroDoop"


class Site:
    """One cluster, and a folder in its HDFS."""

    def __init__(self, cluster: Cluster, folder: Path, base: str) -> None:
        self.cluster = cluster
        self.folder = folder
        self.base = base
        self.environment = environment(cluster.environment())
        self.space = Namespace(client.configuration())
        self._jobs = 0

    def put(self, name: str, data: bytes) -> str:
        """A file in HDFS; returns its path."""
        local = self.folder / "put"
        local.write_bytes(data)
        path = f"{self.base}/{name}"
        self.space.put(local, path)
        return path

    def output(self) -> str:
        """A path where nothing is yet."""
        self._jobs += 1
        return f"{self.base}/out-{self._jobs}"

    def submit(self, bundle: Path, inputs: list[str], *options: object, status: int = 0) -> Result:
        """Run a job to its end. `status`: what must come out."""
        output = self.output()
        named = [word for path in inputs for word in ("-i", path)]
        done = cli_here("submit", bundle, *named, "-o", output, "--json", "--quiet", *options, status=status)
        return Result(self, output, json.loads(done.out) if done.out else {}, done.message)

    def ended(self, job: str, output: str) -> Result:
        """A job that was submitted with --detach, after its end."""
        cluster = rest.ClusterClient(client.configuration())
        end = follow.Follower(cluster, job, make_display(sys.stderr, quiet=True), print, plugin=True).wait()
        return Result(self, output, json.loads(json.dumps(report(end, output, None))), "")

    def parts(self, output: str) -> list[bytes]:
        """The visible files of a job's output, in order."""
        entries = [entry for entry in self.space.list(output) if not entry.name.rpartition("/")[2].startswith(("_", "."))]
        return [b"".join(self.space.read(entry.name)) for entry in entries]

    def hadoop(self, *words: object, check: bool = True) -> subprocess.CompletedProcess[bytes]:
        argv = [self.cluster.command("hadoop"), *map(str, words)]
        return subprocess.run(argv, env=self.environment, check=check, capture_output=True)

    def node_ports(self) -> list[int]:
        told = cli_here("cluster", "status", "--json", "--dir", self.cluster.dir)
        return list(json.loads(told.out)["node_ports"])


class Result:
    """How a job ended: its report, counters and output."""

    def __init__(self, site: Site, output: str, report: dict[str, Any], message: str) -> None:
        self._site = site
        self.output = output
        self.report = report
        self.message = message

    @property
    def parts(self) -> list[bytes]:
        return self._site.parts(self.output)

    def plugin(self, name: str) -> int:
        return int(self.report["counters"].get(PLUGIN_GROUP, {}).get(name, 0))

    @property
    def sides(self) -> tuple[int, int]:
        """Map tasks whose result came from GPUs, from CPUs."""
        return self.plugin("GPU_MAPS"), self.plugin("CPU_MAPS")

    def tasks(self, name: str) -> int:
        return int(self.report["counters"]["org.apache.hadoop.mapreduce.TaskCounter"][name])


class Book:
    """The text of the jobs of many maps, in HDFS and here, and what the embedded engine makes of it."""

    def __init__(self, site: Site, words: Path, folder: Path) -> None:
        data = text(300_000, 1)
        (folder / "text").write_bytes(data)
        self.path = site.put("text", data)
        self._folder = folder
        self._bundle = words
        self._made: dict[int, list[bytes]] = {}

    def wanted(self, reducers: int) -> list[bytes]:
        if reducers not in self._made:
            out = self._folder / f"out-{reducers}"
            cli_here("run", self._bundle, self._folder / "text", "-o", out, "-r", reducers, "--cpu-only", "--quiet")
            self._made[reducers] = parts(out)
        return self._made[reducers]


def text(nbytes: int, seed: int) -> bytes:
    """Words of any bytes but white space, also such as are no UTF-8, in lines that end in every way; the last in none."""
    rng = random.Random(seed)
    words = [bytes(rng.choice(b"abcXYZ09\x80\xc3\xa4\xff\x01_") for _ in range(rng.randint(1, 12))) for _ in range(700)]
    out = bytearray(b"\xef\xbb\xbf")
    while len(out) < nbytes:
        out += b" ".join(rng.choices(words, k=rng.randint(0, 12))) + rng.choice((b"\n", b"\n", b"\r\n", b"\r"))
    return bytes(out) + b"the last"


class Drivers:
    """Emulated drivers with instruments for some NodeManagers, in a folder that a job is told. `faults`: by port."""

    def __init__(self, folder: Path, ports: list[int], faults: Mapping[int, str], arguments: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.ports = ports
        self.options = ("-D", f"heterodoop.driver.dir={folder}")
        folder.mkdir(mode=0o700, parents=True)
        for port in ports:
            argv = [*instrumented.COMMAND, "driver", "start", "--device", "emulated", "--gpus", "0", "--dir", str(folder),
                    "--node-port", str(port), *arguments]
            fault = {instrumented.VARIABLE: faults[port]} if port in faults else {}
            subprocess.run(argv, check=True, env=environment(fault), timeout=120)

    def status(self, port: int) -> dict[str, Any]:
        """In this process: whoever waits for something asks often."""
        done = cli_here("driver", "status", "--json", "--dir", self.folder, "--node-port", port)
        found: dict[str, Any] = json.loads(done.out)
        return found

    def stop(self) -> None:
        for port in self.ports:
            cli_here("driver", "stop", "--now", "--dir", self.folder, "--node-port", port, status=None)


@contextlib.contextmanager
def drivers(ports: list[int], *arguments: str, faults: Mapping[int, str] = MappingProxyType({})) -> Iterator[Drivers]:
    """Drivers that are gone at the end. A socket's path is short: their folder is not pytest's deep one."""
    folder = Path(tempfile.mkdtemp(prefix="hd-drivers-"))
    folder.rmdir()
    started = None
    try:
        started = Drivers(folder, ports, faults, arguments)
        yield started
    finally:
        if started:
            started.stop()
        shutil.rmtree(folder, ignore_errors=True)
