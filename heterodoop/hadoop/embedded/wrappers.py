"""bin/hadoop, hdfs, yarn, mapred: the commands that a Hadoop user knows, over the jars of an embedded cluster.

The same subcommands, options (--config) and variables (HADOOP_CONF_DIR, HADOOP_CLASSPATH, HADOOP_CLIENT_OPTS, HADOOP_OPTS)
as Hadoop's own scripts; what starts servers is left out. Not here: the servers (`daemons`).
"""

from __future__ import annotations

from shlex import quote

from . import class_data
from .folder import Folder
from .jars import Release
from .java import Java
from .site import OPENS, SMALL_JVM

HADOOP = "org.apache.hadoop."
# Subcommands -> class. "+" behind the class: it gets the subcommand as its first argument.
_COMMON = {
    "jar": "util.RunJar", "version": "util.VersionInfo", "conftest": "util.ConfTest", "envvars": "", "classpath": "",
}
COMMANDS: dict[str, dict[str, str]] = {
    "hadoop": {
        "fs": "fs.FsShell", "dfs": "fs.FsShell", "checknative": "util.NativeLibraryChecker", "key": "crypto.key.KeyShell",
        "credential": "security.alias.CredentialShell", "dtutil": "security.token.DtUtilShell",
        "daemonlog": "log.LogLevel",
    },
    "hdfs": {
        "dfs": "fs.FsShell", "dfsadmin": "hdfs.tools.DFSAdmin", "fsck": "hdfs.tools.DFSck", "getconf": "hdfs.tools.GetConf",
        "groups": "hdfs.tools.GetGroups", "storagepolicies": "hdfs.tools.StoragePolicyAdmin", "ec": "hdfs.tools.ECAdmin",
        "cacheadmin": "hdfs.tools.CacheAdmin", "crypto": "hdfs.tools.CryptoAdmin", "debug": "hdfs.tools.DebugAdmin",
        "oiv": "hdfs.tools.offlineImageViewer.OfflineImageViewerPB", "lsSnapshottableDir":
        "hdfs.tools.snapshot.LsSnapshottableDir", "snapshotDiff": "hdfs.tools.snapshot.SnapshotDiff",
    },
    "yarn": {
        "application": "yarn.client.cli.ApplicationCLI+", "app": "yarn.client.cli.ApplicationCLI+",
        "applicationattempt": "yarn.client.cli.ApplicationCLI+", "container": "yarn.client.cli.ApplicationCLI+",
        "node": "yarn.client.cli.NodeCLI", "queue": "yarn.client.cli.QueueCLI", "logs": "yarn.client.cli.LogsCLI",
        "rmadmin": "yarn.client.cli.RMAdminCLI", "cluster": "yarn.client.cli.ClusterCLI", "top": "yarn.client.cli.TopCLI",
    },
    "mapred": {
        "job": "mapred.JobClient", "queue": "mapred.JobQueueClient", "streaming": "streaming.HadoopStreaming",
    },
}

_SCRIPT = """#!/bin/sh
# Written by `heterodoop cluster up`.
here={here}
: "${{HADOOP_CONF_DIR:=$here/conf}}"
if [ "${{1:-}}" = --config ]; then HADOOP_CONF_DIR="$2"; shift 2; fi
JAVA_HOME="${{JAVA_HOME:-{java}}}"
export HADOOP_CONF_DIR JAVA_HOME
path="$here/lib/*:$HADOOP_CONF_DIR${{HADOOP_CLASSPATH:+:$HADOOP_CLASSPATH}}"
command="${{1:-}}"
[ $# -eq 0 ] || shift
case "$command" in
{cases}
classpath) printf '%s\\n' "$path"; exit 0 ;;
envvars) printf '%s\\n' "JAVA_HOME='$JAVA_HOME'" "HADOOP_CONF_DIR='$HADOOP_CONF_DIR'" "HADOOP_HOME='$here'"; exit 0 ;;
*.*) class="$command" ;;
'' | -h | --help | -help) echo "usage: {name} [--config DIR] COMMAND|CLASS ...; commands: {known}"; exit 0 ;;
*) echo "{name}: no command '$command'; there are: {known}" >&2; exit 1 ;;
esac
# Unquoted: HADOOP_OPTS and HADOOP_CLIENT_OPTS are words.
# shellcheck disable=SC2086
exec "$JAVA_HOME/bin/java" {opens}{jvm} -Xmx512m -Djava.net.preferIPv4Stack=true -Djava.io.tmpdir="${{TMPDIR:-/tmp}}" \\
  -Dhadoop.home.dir="$here" -Dhadoop.log.dir="$here/log" -Dhadoop.log.file={name}.log \\
  ${{HADOOP_OPTS:-}} ${{HADOOP_CLIENT_OPTS:-}} -cp "$path" "$class" "$@"
"""


def write(folder: Folder, release: Release, java: Java) -> None:
    """Write the four scripts into the folder's bin/."""
    for name, own in COMMANDS.items():
        path = folder.bin / name
        path.write_text(_script(folder, release, java, name, {**own, **_COMMON}))
        path.chmod(0o755)


def _script(folder: Folder, release: Release, java: Java, name: str, commands: dict[str, str]) -> str:
    cases = "\n".join(_case(command, target) for command, target in commands.items() if target)
    prepared = f" {class_data.options(folder.classes)}" if folder.classes.exists() else ""
    return _SCRIPT.format(
        here=quote(str(folder.path)), java=java.home, name=name, cases=cases, known=" ".join(sorted(commands)),
        opens=f"{OPENS} " if release.opens else "", jvm=SMALL_JVM + prepared,
    )


def _case(command: str, target: str) -> str:
    first = f'; set -- {command} "$@"' if target.endswith("+") else ""
    return f"{command}) class={HADOOP}{target.rstrip('+')}{first} ;;"
