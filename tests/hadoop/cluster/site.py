"""A cluster with jobs' data, and drivers on its nodes, as the tests of whole jobs use them. Not a test module."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heterodoop.hadoop import client
from heterodoop.hadoop.cluster import Cluster
from heterodoop.storage.webhdfs import Namespace

from ...support import COMMAND, cli_here, environment

# A small job in the application master itself: a third of the time, and the plug-in works there as anywhere.
UBER = ("-D", "mapreduce.job.ubertask.enable=true")
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


class Drivers:
    """Emulated drivers for some NodeManagers, in a folder of their own that a job is told."""

    def __init__(self, folder: Path, ports: list[int], environ: dict[str, str], arguments: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.ports = ports
        self.options = ("-D", f"heterodoop.driver.dir={folder}")
        folder.mkdir(mode=0o700, parents=True)
        self._environ = environ
        for port in ports:
            self.start(port, *arguments)

    def start(self, port: int, *arguments: str) -> None:
        argv = [*COMMAND, "driver", "start", "--device", "emulated", "--gpus", "0", "--dir", str(self.folder),
                "--node-port", str(port), *arguments]
        subprocess.run(argv, check=True, env=environment(self._environ), timeout=60)

    def status(self, port: int) -> dict[str, Any]:
        argv = [*COMMAND, "driver", "status", "--json", "--dir", str(self.folder), "--node-port", str(port)]
        done = subprocess.run(argv, check=True, env=environment(self._environ), capture_output=True, timeout=30)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def stop(self) -> None:
        for port in self.ports:
            argv = [*COMMAND, "driver", "stop", "--now", "--dir", str(self.folder), "--node-port", str(port)]
            subprocess.run(argv, env=environment(self._environ), capture_output=True, timeout=60, check=False)


@contextlib.contextmanager
def drivers(folder: Path, ports: list[int], *arguments: str, fault: str = "") -> Iterator[Drivers]:
    """Drivers that are gone at the end. Socket paths are short: `folder` is not pytest's deep one but a name below /tmp."""
    place = Path(f"/tmp/hd-{os.getpid()}-{folder.name}")
    started = None
    try:
        started = Drivers(place, ports, {"HETERODOOP_DRIVER_FAULT": fault} if fault else {}, arguments)
        yield started
    finally:
        if started:
            started.stop()
        shutil.rmtree(place, ignore_errors=True)
