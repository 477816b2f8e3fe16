"""What is so in a node between any two events. For tests, which drive the machine through every order of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from .devices import Sessions
from .host import HostSlots
from .job import Job
from .lease import Lease
from .line import Line
from .load import Load


def check(leases: Mapping[int, Lease], line: Line, sessions: Sessions, load: Load, *, stopping: bool) -> None:
    """Raises AssertionError."""
    _check_line(leases, line, sessions, stopping)
    _check_sessions(leases, sessions)
    _check_load(leases, sessions, load)
    _check_jobs(leases)


def check_host(leases: Mapping[int, Lease], line: Line, slots: HostSlots, *, stopping: bool) -> None:
    """The same of the slots for host kernels. Raises AssertionError."""
    here = [lease for lease in leases.values() if lease.kind == "host"]
    if _first(here, line) is not None:
        assert not stopping and slots.slots, "somebody waits for a slot that cannot come"
        assert not slots.free, "a slot idles while somebody waits for it"
    held = [lease.session.number for lease in here if lease.session]
    assert len(set(held)) == len(held) == slots.slots - slots.free, f"two have one slot, or one is lost: {held}"


def _check_line(leases: Mapping[int, Lease], line: Line, sessions: Sessions, stopping: bool) -> None:
    first = _first([lease for lease in leases.values() if lease.kind != "host"], line)
    if first is not None:
        assert not stopping and sessions.in_service, "somebody waits for a device that cannot come"
        assert not sessions.can_take(leases[first].user), "a session idles while somebody waits for it"


def _first(leases: Sequence[Lease], line: Line) -> int | None:
    """Who is first in the line of these; None: nobody waits."""
    waiting = {lease.number: lease for lease in leases if lease.waits}
    assert sorted(line) == sorted(waiting), "the line is not who waits"
    for lease in waiting.values():
        assert lease.state == "queued" and lease.session is None, f"lease {lease.number} waits, and is {lease.state}"
    if not waiting:
        return None
    first = line.first
    assert first is not None and line.ahead(waiting[first].name, first) == 0, "who is first has nobody before him"
    places = sorted(line.ahead(lease.name, number) for number, lease in waiting.items())
    assert places == list(range(len(waiting))), f"two have one place in the line: {places}"
    return first


def _check_sessions(leases: Mapping[int, Lease], sessions: Sessions) -> None:
    held = Counter(lease.session for lease in leases.values() if lease.session)
    assert all(count == 1 for count in held.values()), f"two have one session: {held}"
    for number in range(len(sessions.now)):
        here = [lease for lease in leases.values() if lease.session and lease.session.device == number]
        assert len(here) + sessions.free(number) == sessions.sessions, f"device {number} has lost a session"
        assert len({lease.user for lease in here}) <= 1, f"device {number} has tasks of two users"


def _check_load(leases: Mapping[int, Lease], sessions: Sessions, load: Load) -> None:
    assert load.gpus == sessions.in_service, "wrong count of GPUs"
    on_gpus = [lease for lease in leases.values() if lease.kind == "gpu"]
    assert len(load) == len(on_gpus) and all(lease in load for lease in on_gpus), "wrong count of attempts on GPUs"
    assert load.running == sum(lease.on_gpu.shared > 0 for lease in on_gpus), "wrong count of those that run"
    for lease in leases.values():
        assert lease.kind == "lent" or (lease.kind == "cpu") == (lease.state == "cpu"), f"lease {lease.number} is nowhere"
        assert lease.session is None or lease.state in ("running", "sent"), f"lease {lease.number} should have no device"


def _check_jobs(leases: Mapping[int, Lease]) -> None:
    jobs: dict[int, tuple[Job, list[Lease]]] = {}
    for lease in leases.values():
        if lease.kind != "lent":
            jobs.setdefault(id(lease.job), (lease.job, []))[1].append(lease)
    for job, here in jobs.values():
        assert job.live == len(here), "a job has another number of attempts"
        for task, count in Counter(lease.task for lease in here).items():
            assert job.decided.get(task, 0) >= count, f"{task} is not decided"
