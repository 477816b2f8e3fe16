"""End a job as Hadoop's own client does, and put away what one leaves that could not end in order.

The client asks the job's ApplicationMaster, which stops the tasks, removes the output's _temporary and the job's staging
folder, and writes its history. YARN's kill, all that is there without a client or before there is an ApplicationMaster, ends
the processes at once, and both folders stay: they are removed here. Not here: whether there is such a job (`jobs`).
"""

from __future__ import annotations

import contextlib
import time

from ...driver.cluster.yarn_rest import Unknown
from ...errors import HeteroDoopError
from ...job.settings import OUTPUT
from ...storage.hadoop_conf import HadoopConf
from ...storage.webhdfs import Namespace
from . import client
from .rest import App, ClusterClient

OVER_SECONDS = 30.0  # an ApplicationMaster lingers for some five seconds after its job
_POLL_SECONDS = 0.2
_STAGING = "yarn.app.mapreduce.am.staging-dir"


def kill(cluster: ClusterClient, conf: HadoopConf, job: str) -> bool:
    """End it; whether it is over within OVER_SECONDS. Raises Unknown: nobody takes the wish."""
    output = _setting(cluster, job, OUTPUT)
    if not client.kill(job):
        cluster.kill(job)
    app = _wait(cluster, job)
    if app is None:
        return False
    _tidy(conf, app.job, app.user, output)
    return True


def unsubmitted(cluster: ClusterClient, conf: HadoopConf, job: str) -> bool:
    """Whether the cluster does not have the job of a client that was ended; then what that had copied for it is removed."""
    try:
        if cluster.app(job) is not None:
            return False
    except Unknown:
        return False
    _tidy(conf, job, cluster.user, "")
    return True


def _setting(cluster: ClusterClient, job: str, key: str) -> str:
    """"" where nobody knows (yet)."""
    try:
        return cluster.setting(job, key)
    except Unknown:
        return ""


def _wait(cluster: ClusterClient, job: str) -> App | None:
    """The application when it is over; None: it is not, or nobody says so."""
    end = time.monotonic() + OVER_SECONDS
    while True:
        with contextlib.suppress(Unknown):
            if (app := cluster.app(job)) is not None and app.over:
                return app
        if time.monotonic() > end:
            return None
        time.sleep(_POLL_SECONDS)


def _tidy(conf: HadoopConf, job: str, user: str, output: str) -> None:
    """Remove what is still there. Whoever may not, or has no access to HDFS, leaves it.

    The output goes where nothing is in it: the job has made it, and the same command finds it in its way otherwise.
    """
    names = [f"{conf.get(_STAGING)}/{user}/.staging/{job}", *([f"{output}/_temporary"] if output else [])]
    with contextlib.suppress(HeteroDoopError), contextlib.closing(Namespace(conf)) as space:
        for name in names:
            with contextlib.suppress(HeteroDoopError):
                space.remove(space.resolve(name))
        if output:
            space.remove_empty(space.resolve(output))
