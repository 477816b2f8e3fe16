"""HeteroDoop against a real Hadoop with Kerberos and a KDC of its own: by hand, since it takes a minute and a half.

    python -m tests.hadoop.secured [FOLDER]

Files, a job without reducers on a driver's emulated device, a job that is killed, `run` on HDFS, and what is said without a
ticket. Not here: jobs with reducers. Hadoop's shuffle wants libhadoop.so in a cluster with Kerberos, and Maven has none.
Not a test module.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from heterodoop.hadoop import cluster
from heterodoop.hadoop.cluster import Cluster, Options
from heterodoop.hadoop.embedded import daemons, site

from ..support import COMMAND, ROOT
from . import kdc

SERVICE, WEB = f"hadoop/localhost@{kdc.REALM}", f"HTTP/localhost@{kdc.REALM}"
PORTS = ("namenode-web", "datanode-web", "resourcemanager-web", "nodemanager1-web", "historyserver-web")
SECONDS = 150.0
SAMPLE = ROOT / "apps" / "wordcount" / "sample.txt"


def settings(keytab: Path, secret: Path) -> dict[str, dict[str, Any]]:
    """What the servers' configuration has more, by the function of `site` that makes the rest."""
    def both(prefix: str, principal: str, key: str) -> dict[str, Any]:
        return {f"{prefix}.{principal}": SERVICE, f"{prefix}.{key}": keytab}

    http = "hadoop.http.authentication"
    return {
        "_core": {
            "hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true",
            "hadoop.security.auth_to_local": "RULE:[2:$1](hadoop)s/.*/root/\nDEFAULT",
            "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
            f"{http}.type": "kerberos", f"{http}.kerberos.principal": WEB, f"{http}.kerberos.keytab": keytab,
            f"{http}.signature.secret.file": secret, f"{http}.simple.anonymous.allowed": "false",
        },
        "_hdfs": {
            **both("dfs.namenode", "kerberos.principal", "keytab.file"),
            **both("dfs.datanode", "kerberos.principal", "keytab.file"),
            "dfs.web.authentication.kerberos.principal": WEB, "dfs.web.authentication.kerberos.keytab": keytab,
            "dfs.block.access.token.enable": "true", "ignore.secure.ports.for.testing": "true",
        },
        "_yarn": {**both("yarn.resourcemanager", "principal", "keytab"), **both("yarn.nodemanager", "principal", "keytab")},
        "_mapred": both("mapreduce.jobhistory", "principal", "keytab"),
    }


def with_more(make: Callable[..., dict[str, Any]], more: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    return lambda *arguments: {**make(*arguments), **more}


def start(folder: Path, realm: kdc.Kdc, java: str) -> Cluster:
    """A cluster of one node. Its own wait for readiness asks without a login: here it is that all ports are open."""
    keytab, secret = realm.folder / "hadoop.keytab", realm.folder / "secret"
    secret.write_text("only this test's")
    for principal in (SERVICE, WEB):
        realm.add(principal, keytab)
    for name, more in settings(keytab, secret).items():
        setattr(site, name, with_more(getattr(site, name), more))
    argv = daemons.Starter._argv
    daemons.Starter._argv = lambda self, name, main: [  # type: ignore[method-assign]
        *(words := argv(self, name, main))[:1], java, *words[1:]]
    cluster._wait_ready = lambda of, again="": list(map(listens, (of.ports[name] for name in PORTS)))  # type: ignore
    return cluster.up(Options(nodes=1, dir=folder), print)


def listens(port: int) -> None:
    end = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection(("localhost", port), 5).close()
            return
        except OSError:
            assert time.monotonic() < end, f"nobody listens at {port}"
            time.sleep(0.5)


def check(folder: Path, realm: kdc.Kdc) -> None:
    java = f"-Djava.security.krb5.conf={realm.folder}/krb5.conf"
    running = start(folder / "cluster", realm, java)
    (folder / "driver").mkdir(mode=0o700)
    own = running.environment({
        **os.environ, **realm.environment, "HADOOP_OPTS": java, "HETERODOOP_DRIVER_DIR": str(folder / "driver"),
        "PYTHONPATH": str(ROOT),
    })

    def say(*words: object, status: int = 0, command: list[str] = COMMAND, **more: str) -> str:
        print("$", *map(str, command[-1:] if command is not COMMAND else ["heterodoop"]), *map(str, words), flush=True)
        done = subprocess.run([*command, *map(str, words)], env={**own, **more}, capture_output=True, text=True, cwd=folder)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    admin = {"KRB5CCNAME": f"FILE:{folder}/admin"}
    say("-k", "-t", realm.folder / "hadoop.keytab", SERVICE, command=["kinit"], **admin)
    say("-k", "-t", realm.folder / "alice.keytab", "alice", command=["kinit"])  # Java wants a cache
    for words in (("-mkdir", "-p", "/user/alice", "/mr-history", "/tmp"), ("-chmod", "777", "/user", "/mr-history", "/tmp"),
                  ("-chown", "alice", "/user/alice")):
        say("fs", *words, command=[running.command("hadoop")], **admin)
    try:
        jobs(folder, say, java)
    finally:
        say("driver", "stop")


def jobs(folder: Path, say: Callable[..., str], java: str) -> None:
    say("compile", ROOT / "apps" / "wordcount", "-o", "wc.hdp", "--arch", "none")
    say("driver", "start", "--device", "emulated")
    say("fs", "put", SAMPLE, "in/")
    assert "/user/alice/in/sample.txt" in say("fs", "ls", "in")
    variables = [word for who in ("yarn.app.mapreduce.am.env", "mapreduce.map.env")
                 for word in ("-D", f"{who}=JAVA_TOOL_OPTIONS={java}")]
    done = say("submit", "wc.hdp", "-i", "in", "-o", "out", "-r", 0, *variables)
    assert "2 maps (2 emulated, 0 CPU)" in done, done
    say("run", "wc.hdp", SAMPLE, "-r", 0, "-o", "here", "--cpu-only")
    maps = b"".join(path.read_bytes() for path in sorted((folder / "here").glob("part-*")))
    assert say("fs", "cat", "out").encode() == maps and maps
    say("run", "wc.hdp", "hdfs:///user/alice/in/sample.txt", "-o", "from-hdfs")
    assert (folder / "from-hdfs" / "part-00000").read_bytes() == (SAMPLE.parent / "expected.txt").read_bytes()
    log = say("job", "logs", say("job", "list", "--all").split()[0])
    assert "asked the driver, process " in log and "ran on emulated 0: " in log
    job = say("submit", "wc.hdp", "-i", "in", "-o", "killed", "-r", 0, "--detach", *variables).split()[0]
    assert f"{job} is killed" in say("job", "kill", job)
    nobody = {"KRB5CCNAME": "FILE:/none", "KRB5_CLIENT_KTNAME": "FILE:/none"}
    for words in (("fs", "ls", "/"), ("submit", "wc.hdp", "-i", "in", "-o", "no"), ("job", "list"),
                  ("run", "wc.hdp", "hdfs:///user/alice/in/sample.txt", "-o", "no")):
        assert "[HD635]" in say(*words, status=4, **nobody)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="secured-")).absolute()
    (folder / "kdc").mkdir(parents=True, exist_ok=True)
    with kdc.running(folder / "kdc") as realm:
        try:
            check(folder, realm)
        finally:
            cluster.down(folder / "cluster")
    print("all is as it should be")


if __name__ == "__main__":
    main()
