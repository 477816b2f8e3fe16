"""Jobs that count, played: a `hadoop` that takes any number of them, and servers that say what became of each.

A job reads a number from its side file n.txt, adds one while it is below five, and writes it; its counter `left` says how
far five is. Not a test module.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.parse
from pathlib import Path
from typing import Any, NamedTuple

from .fake_cluster import FakeCluster

# As Hadoop's client it copies what is shipped: the files may be gone when the job runs.
CLIENT = """#!{python}
import json, os, pathlib, sys
jobs = pathlib.Path({folder!r})
number = len(list(jobs.iterdir())) + 1
argv = sys.argv[1:]
files = argv[argv.index("-files") + 1].split(",")
side = next(f.partition("#")[0] for f in files if f.endswith(("#n.txt", "/n.txt")))
job = {{"argv": argv, "side": pathlib.Path(side).read_text()}}
(jobs / f"{{number}}.new").write_text(json.dumps(job))
os.rename(jobs / f"{{number}}.new", jobs / f"{{number}}.json")
print(f"Submitted job job_1700000000000_{{number:04}}")
{after}
"""


class Job(NamedTuple):
    number: int
    argv: list[str]
    side: str

    @property
    def id(self) -> str:
        return f"job_1700000000000_{self.number:04}"

    @property
    def output(self) -> str:
        return self.argv[self.argv.index("-output") + 1]

    def setting(self, key: str) -> str:
        return next((word.partition("=")[2] for word in self.argv if word.startswith(f"{key}=")), "")


class Counting:
    """`states`: of jobs that do not simply succeed, by their number: RUNNING, FAILED, KILLED. `silent`: what no server knows
    the counters of. `forgotten`: jobs that no server knows. `split`: part files of an output."""

    def __init__(self, fake: FakeCluster) -> None:
        self.fake = fake
        self.states: dict[int, str] = {}
        self.silent: set[int] = set()
        self.forgotten: set[int] = set()
        self.parts = 1
        self._folder = fake.folder / "jobs"
        self._folder.mkdir()
        self._made: set[int] = set()
        self.client()
        fake.otherwise = self._answer

    def client(self, after: str = "") -> None:
        """`after`: what `hadoop` does when the job is submitted."""
        script = self.fake.folder / "bin" / "hadoop"
        script.write_text(CLIENT.format(python=sys.executable, folder=str(self._folder), after=after))
        script.chmod(0o755)

    @property
    def jobs(self) -> list[Job]:
        """All that were submitted."""
        found = sorted(self._folder.glob("*.json"), key=lambda path: int(path.stem))
        return [Job(int(path.stem), **json.loads(path.read_text())) for path in found]

    def killed(self) -> list[str]:
        return [line for line in self.fake.asked if line.startswith("PUT /ws/v1/cluster/apps")]

    def _answer(self, path: str) -> Any:
        if path.startswith("/ws/v1/cluster/apps?"):
            tag = dict(urllib.parse.parse_qsl(path.partition("?")[2]))["applicationTags"]
            known = [job for job in self.jobs if job.number not in self.forgotten]
            tagged = [job for job in known if tag in job.setting("mapreduce.job.tags").split(",")]
            return {"apps": {"app": [self._app(job) for job in tagged]}}
        match = re.search(r"(?:application|job)_1700000000000_(\d+)", path)
        job = next((job for job in self.jobs if match and job.number == int(match[1])), None)
        if job is None or job.number in self.forgotten:
            return 404
        if "/cluster/apps/" in path:
            if path.partition("?")[0].endswith("/state"):
                self.states[job.number] = "KILLED"
            return {"app": self._app(job)}
        return self._history(job, path)

    def _app(self, job: Job) -> dict[str, Any]:
        state = self.states.get(job.number, "SUCCEEDED")
        if state == "SUCCEEDED":
            self._make(job)
        running = state == "RUNNING"
        return {"id": job.id.replace("job", "application"), "state": "RUNNING" if running else "FINISHED",
                "finalStatus": "UNDEFINED" if running else state, "startedTime": job.number, "elapsedTime": 2000}

    def _make(self, job: Job) -> None:
        """The output, once."""
        if job.number in self._made:
            return
        self._made.add(job.number)
        self.fake.folders.add(job.output)
        self.fake.files[f"{job.output}/_SUCCESS"] = b""
        text = f"{self._next(job)}\t\n".encode()
        for part in range(self.parts):
            self.fake.files[f"{job.output}/part-{part:05}"] = text[part : part + 1] if part < self.parts - 1 else text[part:]

    def _next(self, job: Job) -> int:
        return min(int(job.side) + 1, 5)

    def _history(self, job: Job, path: str) -> Any:
        state = self.states.get(job.number, "SUCCEEDED")
        if state == "RUNNING" or "/history/" not in path or (path.endswith("/counters") and job.number in self.silent):
            return 404
        if path.endswith("/counters"):
            groups = {"test": {"left": 5 - self._next(job)},
                      "org.apache.hadoop.mapreduce.TaskCounter": {"MAP_OUTPUT_RECORDS": 1, "REDUCE_OUTPUT_RECORDS": 1}}
            return {"jobCounters": {"counterGroup": [_group(name, values) for name, values in groups.items()]}}
        if not path.endswith(job.id):
            return 404
        return {"job": {"id": job.id, "state": state, "submitTime": 1000, "finishTime": 4000, "mapsTotal": 1,
                        "reducesTotal": 1, "diagnostics": "" if state == "SUCCEEDED" else f"the job is {state}"}}


def _group(name: str, values: dict[str, int]) -> dict[str, Any]:
    return {"counterGroupName": name, "counter": [{"name": k, "totalCounterValue": value} for k, value in values.items()]}


def visible(fake: FakeCluster, below: str) -> list[str]:
    """What HDFS has below a folder."""
    return sorted(name for name in (*fake.files, *fake.folders) if Path(name).is_relative_to(below))
