"""The rounds of an iterated job in HDFS, in OUT.rounds beside the output, so that it can go on after an interrupt.

    OUT.rounds/rounds.json       what job this is, and a word of its own with which each round's job is tagged in YARN
    OUT.rounds/lock              who works here
    OUT.rounds/0001.job          the id of the round's job, from its submission on
    OUT.rounds/0001/             its output. Those of rounds before the last two are removed
    OUT.rounds/0001.json         how it ended: with this the round is done

When the job ends, the last round's output is renamed to OUT and the rest is removed. Not here: running rounds (`iterate`).
"""

from __future__ import annotations

import json
import os
import posixpath
import secrets
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from ...daemon import processes
from ...daemon.processes import Process
from ...errors import JobFailed, UsageError
from ...job.rounds import not_ours
from ...storage.webhdfs import COPYING, Namespace
from ..job.follow import HADOOPS, JobEnded

FORMAT = "heterodoop-hadoop-rounds-1"
STATE, LOCK = "rounds.json", "lock"


class HdfsStore:
    """The folder, held by a file that names its process. All methods raise as those of `Namespace`."""

    def __init__(self, space: Namespace, output: str) -> None:
        """output: absolute path."""
        self.where = output + ".rounds"
        self.anew = f"or begin anew after: hadoop fs -rm -r {self.where}"
        self._output = output
        self._space = space
        self._word = ""
        self._locked = False

    def take(self, identity: Mapping[str, Any]) -> Mapping[str, Any]:
        """As `Store.take`."""
        if self._json(STATE).get("format") != FORMAT:
            self._check_free()
        self._lock()
        state = self._json(STATE)
        if not state:
            state = {"format": FORMAT, "word": secrets.token_hex(8), "job": json.loads(json.dumps(identity))}
            self._write(STATE, state)
        self._word = state["word"]
        there: Mapping[str, Any] = state["job"]
        return there

    def release(self) -> None:
        if self._locked:
            self._space.remove(self._path(LOCK))
        self._locked = False

    def discard(self) -> None:
        if self._locked:
            self._space.remove(self.where)
        self._locked = False

    def done(self, number: int) -> JobEnded | None:
        found = self._json(f"{number:04d}.json")
        return JobEnded(**found) if found else None

    def write(self, number: int, ended: JobEnded) -> None:
        self._write(f"{number:04d}.json", ended._asdict())

    def thin(self, number: int) -> None:
        self.clear(number)

    def pieces(self, number: int) -> Iterator[bytes]:
        names = [entry.name for entry in self._space.list(self.output(number)) if not entry.folder]
        for name in names:
            if posixpath.basename(name).startswith("part-"):
                yield from self._space.read(name)

    def report(self, ended: JobEnded) -> dict[str, Any]:
        return report(ended)

    def output(self, number: int) -> str:
        return self._path(f"{number:04d}")

    def tag(self, number: int) -> str:
        """A word that no other job's tags have."""
        return f"heterodoop-{self._word}-{number}"

    def has_output(self, number: int) -> bool:
        return self._space.status(self.output(number)) is not None

    def clear(self, number: int) -> None:
        """Remove what an attempt at a round left of its output."""
        self._space.remove(self.output(number))

    def note(self, number: int, job: str) -> None:
        """The round's job is submitted."""
        self._write(f"{number:04d}.job", {"job": job})

    def noted(self, number: int) -> str:
        """The id of the round's last job; "" where none was submitted, or nobody had the time to note it."""
        return str(self._json(f"{number:04d}.job").get("job", ""))

    def commit(self, last: int) -> None:
        """The last round's output becomes the job's. Raises JobFailed HD406; the rounds are still there then."""
        try:
            self._space.move(self.output(last), self._output)
        except UsageError as error:
            raise JobFailed(f"cannot put the output in place: {error.message}", code="HD406") from None
        self.discard()

    def _path(self, name: str) -> str:
        return posixpath.join(self.where, name)

    def _write(self, name: str, value: Mapping[str, Any]) -> None:
        self._space.write(self._path(name), json.dumps(value, indent=1).encode() + b"\n")

    def _json(self, name: str) -> dict[str, Any]:
        """{} where there is no such file, or only the beginning of one."""
        path = self._path(name)
        if self._space.status(path) is None:
            return {}
        try:
            found = json.loads(b"".join(self._space.read(path)))
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _check_free(self) -> None:
        """A folder with a lock alone is ours: a process may have ended between its first two steps."""
        if self._space.status(self.where) is None:
            return
        names = {posixpath.basename(entry.name) for entry in self._space.list(self.where)}
        if not names <= {LOCK, STATE + COPYING}:
            raise not_ours(self.where)

    def _lock(self) -> None:
        """HDFS has no locks that end with their process; but of several that create a file one succeeds."""
        host = socket.gethostname()
        mine = {"host": host, "boot": processes.boot(), "process": processes.identify(os.getpid())}
        data = json.dumps(mine).encode()
        path = self._path(LOCK)
        if not self._space.create(path, data):
            holder = self._json(LOCK)
            if not _gone(holder, host):
                raise self._busy(holder)
            self._space.remove(path)
            if not self._space.create(path, data):
                raise self._busy(self._json(LOCK))
        self._locked = True

    def _busy(self, holder: Mapping[str, Any]) -> UsageError:
        who = f"process {holder['process'][0]} on {holder['host']}" if holder.get("process") else "another process"
        return UsageError(
            f"{who} works on the rounds in {self.where}", code="HD043",
            help=f"wait for it; if it is no more: hadoop fs -rm {self._path(LOCK)}",
        )


def _gone(holder: Mapping[str, Any], host: str) -> bool:
    """Whether the process that made a lock has ended for certain: it was on this machine and is not here now."""
    try:
        same = holder["host"] == host
        return same and (holder["boot"] != processes.boot() or not processes.alive(Process(*holder["process"])))
    except (KeyError, TypeError):
        return False


def report(ended: JobEnded) -> dict[str, Any]:
    """A job's end in the form of an engine's report.json, for criteria and lists of rounds."""
    user: dict[str, dict[str, int]] = {}
    own: dict[str, int] = {}
    for group, counters in ended.counters.items():
        if group.startswith(HADOOPS):
            own.update({name: value for name, value in counters.items() if name not in own})
        else:
            user[group] = counters
    return {"job": {"id": ended.job}, "seconds": {"total": ended.seconds}, "counters": own, "user_counters": user}
