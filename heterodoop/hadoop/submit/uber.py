"""Small jobs run in their application master, one task after the other: `submit` asks for it, Hadoop decides by their size.

A container takes seconds to start; Hadoop calls such a job "uber" (JobImpl.makeUberDecision: at most
mapreduce.job.ubertask.maxmaps maps, maxreduces reduces, maxbytes of input, and tasks that fit the master's own container).
What it costs: its tasks are tried once (MAP_MAX_ATTEMPTS becomes 1), with the JVM and environment of the master. So it is
not asked for where the user says something of either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...job import settings as names
from ...job.setting import Party
from ...storage.hadoop_conf import HadoopConf

# Of the user's -D: what tasks in containers have, and those of an application master do not.
_CONTAINERS = re.compile(
    r"mapred\.child\.(env|java\.opts)|mapreduce\.(map|reduce)\."
    r"(env(\..*)?|java\.opts|maxattempts|memory\.mb|cpu\.vcores|resource\..*|node-label-expression)"
    r"|mapreduce\.job\.node-label-expression",
)


def settings(given: Mapping[str, str], conf: HadoopConf) -> dict[str, str]:
    """What `submit` adds to the user's settings of a job, `given`; {} where it is not for `submit` to say."""
    if names.UBER in given or conf.get(names.UBER) or any(map(_CONTAINERS.fullmatch, given)):
        return {}
    found = {names.UBER: names.SETTINGS[names.UBER].default_for(Party.SUBMIT)}
    if names.UBER_BYTES not in given:
        found[names.UBER_BYTES] = str(_most(conf.get(names.UBER_BYTES)))
    return found


def _most(clusters: str) -> int:
    """The cluster's own limit where it has a lower one."""
    most = int(names.SETTINGS[names.UBER_BYTES].default_for(Party.SUBMIT))
    return min(most, int(clusters)) if clusters.isdigit() else most
