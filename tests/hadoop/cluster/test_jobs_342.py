"""Hadoop 3.4.2 takes the same plug-in: a plain streaming job and a job of GPUs and CPUs, the same bytes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodoop.hadoop.cluster import Cluster

from ...support import cli_here
from .site import Book, Site, drivers

MAPS = ("-r", 2, "-D", "mapreduce.job.maps=3")  # more than nodes


@pytest.fixture(scope="module")
def site(cluster_342: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster_342.environment().items():
            patch.setenv(name, value)
        yield Site(cluster_342, tmp_path_factory.mktemp("site-342"), f"/user/{cluster_342.state.user}/jobs-{os.getpid()}")


def test_a_plain_job(site: Site, words: Path, book: Book):
    output = site.output()
    line = cli_here("submit", words, "-i", book.path, "-o", output, *MAPS, "--cpu-only", "--dry-run").out.decode()
    subprocess.run(["bash", "-c", line], env=site.environment, check=True, capture_output=True)
    assert site.parts(output) == book.wanted(2)


def test_a_mixed_job(site: Site, words: Path, book: Book):
    ports = site.node_ports()
    with drivers(ports, faults=dict.fromkeys(ports, "error@running*1")) as started:
        options = ("--policy", "gpu-only", "-D", "heterodoop.verify=true", *started.options)
        done = site.submit(words, [book.path], *MAPS, *options)
    gpu, cpu = done.sides
    assert done.parts == book.wanted(2) and gpu and cpu and gpu + cpu == done.report["maps"]
