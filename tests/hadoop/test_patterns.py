"""The files that an input names in HDFS, by patterns as Hadoop's."""

from __future__ import annotations

import pytest

from heterodoop.hadoop.job import client
from heterodoop.hadoop.submit import patterns
from heterodoop.storage.webhdfs import Namespace

from .fake_cluster import FakeCluster

NAMES = ("/d/a1", "/d/a2", "/d/b1", "/d/a,b", "/d/a*", "/d/x.y", "/d/xzy", "/d/[c]", "/e/a1", "/e/_hidden", "/e/.dot")


@pytest.mark.parametrize(("pattern", "found"), [
    ("/d/a1", "/d/a1"), ("/d/none", ""), ("/none/*", ""), ("/d/a?", "/d/a* /d/a1 /d/a2"), ("/d/a[12]", "/d/a1 /d/a2"),
    ("/d/[^a]1", "/d/b1"), ("/d/[a-b]1", "/d/a1 /d/b1"), ("/d/{a,b}1", "/d/a1 /d/b1"),
    ("/d/{a{1,2},b?}", "/d/a1 /d/a2 /d/b1"),
    ("/d/a*", "/d/a*"), (r"/d/a\*", "/d/a*"), ("/d/x.?", "/d/x.y"), ("/?/a1", "/d/a1 /e/a1"), ("/d/a,?", "/d/a,b"),
    ("/e", "/e/a1"), ("/[e]", "/e/a1"), ("/e/*", "/e/a1"), (r"/d/\[?\]", "/d/[c]"), ("/d/[[]c]", "/d/[c]"), ("/d/{a", ""),
    ("/d/a1/*", ""), ("/d/{a1,e/a1}", ""),
])
def test_what_a_pattern_finds(fake: FakeCluster, pattern: str, found: str) -> None:
    fake.folders.update(("/d", "/e"))
    fake.files.update(dict.fromkeys(NAMES, b"x"))
    space = Namespace(client.configuration())
    try:
        assert " ".join(entry.name for entry in patterns.files(space, pattern)) == found
    finally:
        space.close()
