"""Why HDFS does not take something, by its own words: in our own access, in what Hadoop's client says, in tasks' logs."""

from __future__ import annotations

import re
from typing import NamedTuple


class HdfsCause(NamedTuple):
    """What HDFS says, the error's code, what it means, what to do."""

    pattern: str
    code: str
    meaning: str
    help: str


CAUSES = (
    HdfsCause(r"(?i)name ?node is in safe mode", "HD658", "HDFS is in safe mode: it can be read, but not be written",
          "hdfs dfsadmin -safemode get; it ends when enough blocks are reported, but not where the NameNode's disk is full"),
    HdfsCause(r"could only be (?:written|replicated) to 0 ", "HD661",
              "no DataNode of HDFS takes data: none runs or has room",
          "hdfs dfsadmin -report; heterodoop fs rm what is not needed"),
    HdfsCause(r"(?i)quota of \S+ is exceeded", "HD661", "a quota of HDFS is used up",
          "hdfs dfs -count -q -h FOLDER; heterodoop fs rm what is not needed"),
)


def find(text: str) -> HdfsCause | None:
    """The first cause that the text names."""
    return next((cause for cause in CAUSES if re.search(cause.pattern, text)), None)
