"""A driver reads splits of a real HDFS by itself: blocks, ends of files, names that are percent-encoded, another user's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop.storage.hadoop_conf import hadoop_user

from ...driver.client import INSTALLED, Attempt
from ...driver.running import Driver, running, wait_for
from .site import Site

LINES = b"".join(b"the quick brown fox %d\n" % n for n in range(60_000))


@pytest.fixture(scope="module")
def driver(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    pytest.importorskip("hdfs_native")
    conf = site.environment["HADOOP_CONF_DIR"]
    with running(environment={"HADOOP_CONF_DIR": conf, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}) as found:
        yield found


def test_splits_are_those_of_the_local_file(driver: Driver, site: Site, words: Path, tmp_path: Path) -> None:
    path = site.put("in put.txt", LINES)
    uri = f"{site.space.address}{path}".replace(" ", "%20")
    (tmp_path / "local").write_bytes(LINES)
    middle = len(LINES) // 2
    for number, (start, length) in enumerate([(0, middle), (middle, len(LINES) - middle)]):
        remote = Attempt(words, uri, start, length, reduces=2, user=hadoop_user(), task=number)
        outcomes = []
        local = replace(remote, path=f"file:{tmp_path / 'local'}")
        for attempt in (remote, local, replace(remote, user="x", content=LINES)):
            with driver.client() as client:
                outcomes.append(client.map(attempt))
                assert outcomes[-1].kind == "result", outcomes[-1].fields
                client.send(INSTALLED)
        assert len({(outcome.index, outcome.data) for outcome in outcomes}) == 1
        assert [outcome.text("read") for outcome in outcomes] == ["driver", "driver", "task"]
        assert int(outcomes[0].text("read_bytes")) >= length


def test_what_the_namenode_says_is_in_the_log(driver: Driver, site: Site, words: Path) -> None:
    uri = f"{site.space.address}/none-{os.getpid()}"
    missing = Attempt(words, uri, 0, 5, user=hadoop_user(), content=b"a b c", job="job_1_0002")
    with driver.client() as client:
        assert client.map(missing).kind == "result"
        client.send(INSTALLED)
    (last,) = wait_for(lambda: [row for row in driver.events("installed") if row["attempt"] == missing.id])
    assert last["read"] == "task" and "File does not exist" in last["why"] and "\n" not in last["why"]
