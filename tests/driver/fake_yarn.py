"""A ResourceManager with its proxy, an ApplicationMaster and a JobHistory server, as far as `yarn_rest` asks them: HTTP
answers by path. Not a test module."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from heterodoop.driver.cluster.yarn_rest import Addresses

JOB = "job_1700000000000_0001"
OTHER = "job_1700000000000_0002"
METRICS = "/ws/v1/cluster/metrics"


def proxied(job: str = JOB) -> str:
    return f"/proxy/{job.replace('job_', 'application_')}/ws/v1/mapreduce/jobs/{job}"


def app(job: str = JOB) -> str:
    return f"/ws/v1/cluster/apps/{job.replace('job_', 'application_')}"


def history(job: str = JOB) -> str:
    return f"/ws/v1/history/mapreduce/jobs/{job}"


class Answer(NamedTuple):
    status: int = 200
    body: bytes = b"{}"
    kind: str = "application/json;charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


def says(value: object, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode())


def page(status: int = 200) -> Answer:
    return Answer(status, b"<html>no JSON</html>", "text/html")


def redirect(where: str) -> Answer:
    return Answer(302, b"", "text/html", (("Location", where),))


def job_says(total: int, completed: int, *, pending: int = 0, running: int = 1, job: str = JOB, **more: Any) -> Answer:
    values = {"id": job, "state": "RUNNING", "mapsTotal": total, "mapsCompleted": completed, "mapsPending": pending,
              "mapsRunning": running, **more}
    return says({"job": values})


NOT_THERE = page(404)


class FakeYarn:
    """`answers`: path -> what is said (a function is asked each time). `asked`: the paths that were asked for, in order."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer | Callable[[], Answer]] = {METRICS: says({"clusterMetrics": {"activeNodes": 3}})}
        self.asked: list[str] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                fake.asked.append(self.path)
                found = fake.answers.get(self.path, NOT_THERE)
                answer = found if isinstance(found, Answer) else found()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.kind)
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.where = Addresses((self.url,), self.url)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def __enter__(self) -> FakeYarn:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
