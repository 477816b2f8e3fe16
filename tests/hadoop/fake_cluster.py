"""The web addresses of a cluster, played by one server in this process, and a `hadoop` that only says what it was told to.

Answers are those of Hadoop 3.5.0, also its odd ones (a list of one as the element itself). Not a test module.
"""

from __future__ import annotations

import http.server
import json
import shlex
import threading
import urllib.parse
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

JOB = "job_1700000000000_0001"
APP = "application_1700000000000_0001"
CONTAINER = "container_1700000000000_0001_01_000002"
HISTORY = f"/ws/v1/history/mapreduce/jobs/{JOB}"
LIVE = f"/proxy/{APP}/ws/v1/mapreduce/jobs/{JOB}"


class FakeCluster:
    """`answers`: path (with its query, or without) -> what is sent: a value as JSON, text as it is, an int as that status.

    A list of answers is given one by one, the last one for ever. `otherwise`: answers for paths that are not there, from the
    path. `files`, `folders`: what WebHDFS has; `refuses`: why it takes no file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[str, Any] = {"/ws/v1/cluster/info": {"clusterInfo": {"state": "STARTED"}}}
        self.otherwise: Callable[[str], Any] = lambda path: 404
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = {"/"}
        self.asked: list[str] = []
        self.datanode = ""
        self.refuses = ""
        self.login: Callable[[str], str] | None = None  # whose the `Authorization` of a request is; None: nobody is asked
        self.offer = "Negotiate"  # what those without a login are told
        self.users: set[str] = set()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"cluster": self}))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        self.environment = self._configure()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _configure(self) -> dict[str, str]:
        conf, bin_folder = self.folder / "conf", self.folder / "bin"
        settings = {
            "core-site": {"fs.defaultFS": "hdfs://namenode:8020"},
            "hdfs-site": {"dfs.namenode.http-address": self.address},
            "yarn-site": {"yarn.resourcemanager.webapp.address": self.address},
            "mapred-site": {"mapreduce.framework.name": "yarn", "mapreduce.jobhistory.webapp.address": self.address},
        }
        for folder in (conf, bin_folder):
            folder.mkdir(parents=True, exist_ok=True)
        for name, values in settings.items():
            rows = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in values.items())
            (conf / f"{name}.xml").write_text(f"<configuration>{rows}</configuration>")
        jar = self.folder / "hadoop-streaming-3.4.2.jar"
        jar.touch()
        self.client(f"INFO mapreduce.JobSubmitter: Submitting tokens for job: {JOB}")
        return {
            "HADOOP_CONF_DIR": str(conf), "HADOOP_HOME": str(self.folder), "HETERODOOP_STREAMING_JAR": str(jar),
            "HADOOP_USER_NAME": "ann",
        }

    def client(self, says: str, status: int = 0, name: str = "hadoop") -> None:
        """What `hadoop` (or `mapred`) prints and ends with; its arguments are in `arguments()`."""
        script = self.folder / "bin" / name
        script.write_text(
            f"#!/bin/sh\nfor word in \"$@\"; do printf '%s\\0' \"$word\"; done > {shlex.quote(str(self.folder / 'argv'))}\n"
            f"printf '%s\\n' {shlex.quote(says)} >&2\nexit {status}\n"
        )
        script.chmod(0o755)

    def arguments(self) -> list[str]:
        return (self.folder / "argv").read_text().split("\0")[:-1]

    def application(self, *states: tuple[str, str], diagnostics: str = "") -> None:
        """The job's states and final states as the ResourceManager says them, one after the other."""
        self.answers[f"/ws/v1/cluster/apps/{APP}"] = [
            {"app": {"id": APP, "name": "words", "user": "ann", "queue": "root.default", "state": state,
                     "finalStatus": final, "progress": 50.0, "startedTime": 1, "elapsedTime": 2500,
                     "diagnostics": diagnostics, "trackingUrl": f"http://{self.address}/proxy/{APP}/"}}
            for state, final in states
        ]

    def ended(self, state: str, counters: dict[str, dict[str, int]], diagnostics: str = "", **more: int) -> None:
        """The job as the JobHistory server has it."""
        job = {"id": JOB, "name": "words", "user": "ann", "state": state, "submitTime": 1000, "finishTime": 5500,
               "mapsTotal": 3, "mapsCompleted": 3, "reducesTotal": 1, "reducesCompleted": 1, "diagnostics": diagnostics}
        groups = []
        for group, values in counters.items():
            listed = [{"name": name, "totalCounterValue": value} for name, value in values.items()]
            groups.append({"counterGroupName": group, "counter": listed[0] if len(listed) == 1 else listed})
        self.answers[HISTORY] = {"job": {**job, **more}}
        self.answers[f"{HISTORY}/counters"] = {"jobCounters": {"id": JOB, "counterGroup": groups}}


class _Handler(http.server.BaseHTTPRequestHandler):
    cluster: FakeCluster
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: object) -> None:
        pass

    def _any(self) -> None:
        body = self._body()
        self.cluster.asked.append(f"{self.command} {self.path}")
        if self.cluster.login and "datanode" not in self.path:  # whose address has a token of its own
            if not (user := self.cluster.login(self.headers.get("Authorization", ""))):
                offer = {"WWW-Authenticate": self.cluster.offer} if self.cluster.offer else {}
                self._send(401, b"<html>", "text/html", **offer)
                return
            self.cluster.users.add(user)
        if self.path.startswith("/webhdfs/v1"):
            self._webhdfs(body)
            return
        if self.command == "PUT" and "/state" in self.path:
            self.cluster.application(("KILLED", "KILLED"))
        answers, bare = self.cluster.answers, self.path.partition("?")[0]
        found = next((answers[path] for path in (self.path, bare) if path in answers), None)
        if found is None:
            found = self.cluster.otherwise(self.path)
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if isinstance(found, int):
            self._send(found, b"<html>", "text/html")
        elif isinstance(found, str):
            self._send(200, found.encode(), "text/plain")
        else:
            self._send(200, json.dumps(found).encode(), "application/json")

    do_GET = do_PUT = do_DELETE = _any

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _webhdfs(self, body: bytes) -> None:
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path.removeprefix("/webhdfs/v1")) or "/"
        query = dict(urllib.parse.parse_qsl(url.query))
        getattr(self, f"_{query['op'].lower()}")(path, query, body)

    def _getfilestatus(self, path: str, query: dict[str, str], body: bytes) -> None:
        if path in self.cluster.files or path in self.cluster.folders:
            self._json({"FileStatus": self._entry(path, "")})
        else:
            self._missing(path)

    def _liststatus(self, path: str, query: dict[str, str], body: bytes) -> None:
        every, above = [*self.cluster.files, *self.cluster.folders], path.rstrip("/")
        listed = [self._entry(p, p.rpartition("/")[2]) for p in every if p != "/" and p.rpartition("/")[0] == above]
        if path in self.cluster.files:
            listed = [self._entry(path, "")]
        elif not listed and path not in self.cluster.folders:
            self._missing(path)
            return
        self._json({"FileStatuses": {"FileStatus": listed}})

    def _open(self, path: str, query: dict[str, str], body: bytes) -> None:
        if "datanode" not in query:
            self._redirect(query)
        else:
            self._send(200, self.cluster.files[path], "application/octet-stream")

    def _create(self, path: str, query: dict[str, str], body: bytes) -> None:
        if self.cluster.refuses:
            self._refuse("IOException", self.cluster.refuses)
        elif "datanode" not in query:
            self._redirect(query)
        elif path in self.cluster.files and query.get("overwrite", "").lower() == "false":
            self._refuse("FileAlreadyExistsException", f"{path} for client 127.0.0.1 already exists")
        else:
            self.cluster.files[path] = body
            self.cluster.folders.update(str(folder) for folder in PurePosixPath(path).parents)
            self._send(201, b"", "text/plain")

    def _rename(self, path: str, query: dict[str, str], body: bytes) -> None:
        """With options as FileContext's rename, which refuses by an exception and answers with nothing."""
        target, options = query["destination"], query.get("renameoptions", "")
        if options == "NONE" and (target in self.cluster.files or target in self.cluster.folders):
            self._refuse("FileAlreadyExistsException", f"rename destination {target} already exists")
            return
        for old in self._below(path):
            new = target + old.removeprefix(path)
            if old in self.cluster.folders:
                self.cluster.folders.remove(old)
                self.cluster.folders.add(new)
            else:
                self.cluster.files[new] = self.cluster.files.pop(old)
        if options:
            self._send(200, b"", "application/octet-stream")
        else:
            self._json({"boolean": True})

    def _delete(self, path: str, query: dict[str, str], body: bytes) -> None:
        found = self._below(path)
        if query.get("recursive", "").lower() == "false" and found not in ([], [path]):
            self._refuse("PathIsNotEmptyDirectoryException", f"{path} is non empty")
            return
        for name in found:
            self.cluster.files.pop(name, None)
            self.cluster.folders.discard(name)
        self._json({"boolean": bool(found)})

    def _below(self, path: str) -> list[str]:
        return [name for name in (*self.cluster.files, *self.cluster.folders) if name == path or name.startswith(f"{path}/")]

    def _mkdirs(self, path: str, query: dict[str, str], body: bytes) -> None:
        self.cluster.folders.add(path)
        self._json({"boolean": True})

    def _redirect(self, query: dict[str, str]) -> None:
        place = f"http://{self.cluster.datanode or self.cluster.address}{self.path}&datanode=true"
        self._send(307, b"", "text/plain", Location=place)

    def _entry(self, path: str, name: str) -> dict[str, Any]:
        folder = path in self.cluster.folders
        return {"pathSuffix": name, "type": "DIRECTORY" if folder else "FILE",
                "length": len(self.cluster.files.get(path, b"")), "owner": "ann", "group": "staff",
                "permission": "755", "replication": 1, "modificationTime": 1}

    def _missing(self, path: str) -> None:
        what = {"exception": "FileNotFoundException", "message": f"File does not exist: {path}"}
        self._send(404, json.dumps({"RemoteException": what}).encode(), "application/json")

    def _refuse(self, exception: str, message: str) -> None:
        what = {"exception": exception, "message": message}
        self._send(403, json.dumps({"RemoteException": what}).encode(), "application/json")

    def _json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
