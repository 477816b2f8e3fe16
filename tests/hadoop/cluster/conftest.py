"""The Hadoop that the tests in this folder share: started for the first one that asks, down after the last of the folder.

Both by the commands that docs/cluster.md and docs/hadoop.md have, so that no test of these pages needs another one. A keeper
takes it down even if pytest is killed. Missing Java or Maven is an error that names the package, not a skip. Tests that
change a server (kill one) put it right again with `cluster.restart`, since others come after them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodoop.hadoop import cluster as hadoop
from heterodoop.hadoop.cluster import Cluster
from heterodoop.hadoop.embedded.folder import ENVIRONMENT as PLACE

from ...support import ROOT, Bundles, cli_process, environment
from .site import Book, Site


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Hadoop 3.5.0 with three NodeManagers of 2048 MiB: four containers each."""
    folder = tmp_path_factory.mktemp("cluster")
    failed_before = request.session.testsfailed
    place = {PLACE: str(folder)}
    try:
        told = cli_process("cluster", "up", "--owner", os.getpid(), env=place, timeout=300)
        assert told.status == 0 and b"Hadoop 3.5.0 is ready" in told.out, told.message
        yield hadoop.running(folder)
        assert cli_process("cluster", "down", env=place).out.decode() == f"the cluster in {folder} is down\n"
    finally:
        failed = request.session.testsfailed > failed_before
        hadoop.down(folder, delete=not failed)
        if failed:
            print(f"the cluster's logs are in {folder}: heterodoop cluster logs --dir {folder}")


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The shared cluster, named by the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.environment().items():
            patch.setenv(name, value)
        folder = tmp_path_factory.mktemp("site")
        yield Site(cluster, folder, f"/user/{cluster.state.user}/{folder.name}-{os.getpid()}")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory, bundles: Bundles) -> Path:
    app = ROOT / "apps" / "wordcount"
    return bundles.get(*((app / f"{role}.c").read_text() for role in ("map", "combine", "reduce")))


@pytest.fixture(scope="module")
def book(site: Site, words: Path, tmp_path_factory: pytest.TempPathFactory) -> Book:
    return Book(site, words, tmp_path_factory.mktemp("text"))


@pytest.fixture
def desk(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder with the apps, and an environment with this checkout's `heterodoop` in PATH."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "heterodoop"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m heterodoop "$@"\n')
    script.chmod(0o755)
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "apps").symlink_to(ROOT / "apps")
    return folder, environment({"PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"})
