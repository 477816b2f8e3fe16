"""Sessions of workers that several users' tasks share: who waits, who gets what, and when a process is replaced."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from heterodoop.errors import DeviceError
from heterodoop.executor.device_pool import PoolWorker, WorkerPool
from heterodoop.executor.gpu.gpus import Gpu
from heterodoop.executor.kernel.native_device import DeviceOptions
from heterodoop.executor.native.runtime import Progress
from heterodoop.executor.worker.client import Limits, Worker

OPTIONS = DeviceOptions()


class FakeWorker(Worker):
    """A worker without a process, which counts how often it was replaced."""

    def __init__(self) -> None:
        super().__init__("emulated", 2, Limits())
        self.replaced = 0

    def replace(self) -> None:
        self.replaced += 1


@pytest.fixture
def worker() -> FakeWorker:
    return FakeWorker()


@pytest.fixture
def pool(worker: FakeWorker) -> Iterator[WorkerPool]:
    yield WorkerPool([PoolWorker(worker, Gpu(0, "emulated", "sm_1", 0))])


def taken(pool: WorkerPool, user: str, order: list[str], go: threading.Event) -> threading.Thread:
    """A thread that takes a device, says so and keeps it until `go`."""
    ready = threading.Event()

    def run() -> None:
        ready.set()
        with pool.take(OPTIONS, 1, Progress(), user):
            order.append(user)
            go.wait(10)

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait(10)
    return thread


def wait_for(condition: object, order: list[str], count: int) -> None:
    for _ in range(200):
        if len(order) >= count:
            return
        threading.Event().wait(0.02)
    raise AssertionError(f"{condition}: {order}")


def test_one_user_has_all_sessions_and_one_process(pool: WorkerPool, worker: FakeWorker) -> None:
    with pool.take(OPTIONS, 1, Progress(), "a") as one, pool.take(OPTIONS, 1, Progress(), "a") as two:
        assert one.arch == two.arch == "sm_1" and one.device is not two.device
    assert worker.replaced == 0


def test_another_user_waits_for_the_process_and_gets_a_new_one(pool: WorkerPool, worker: FakeWorker) -> None:
    order: list[str] = []
    go = threading.Event()
    first = taken(pool, "a", order, go)
    wait_for("a runs", order, 1)
    second = taken(pool, "b", order, go)
    threading.Event().wait(0.3)
    assert order == ["a"] and worker.replaced == 0  # a session is free, but not for b
    go.set()
    first.join(10)
    second.join(10)
    assert order == ["a", "b"] and worker.replaced == 1


def test_who_comes_later_does_not_overtake(pool: WorkerPool, worker: FakeWorker) -> None:
    """A user whose tasks keep coming would otherwise keep the others away for ever."""
    order: list[str] = []
    first_go, go = threading.Event(), threading.Event()
    threads = [taken(pool, "a", order, first_go)]
    wait_for("a runs", order, 1)
    threads.append(taken(pool, "b", order, go))
    threading.Event().wait(0.2)
    threads.append(taken(pool, "a", order, go))
    threading.Event().wait(0.3)
    assert order == ["a"]
    first_go.set()
    wait_for("b runs", order, 2)
    assert order == ["a", "b"]
    go.set()
    for thread in threads:
        thread.join(10)
    assert order == ["a", "b", "a"] and worker.replaced == 2


def test_a_task_that_is_stopped_leaves_the_line(pool: WorkerPool) -> None:
    progress = Progress()
    with pool.take(OPTIONS, 1, Progress(), "a"):
        threading.Timer(0.2, progress.cancel).start()
        with pytest.raises(DeviceError, match="stopped"), pool.take(OPTIONS, 1, progress, "b"):
            raise AssertionError("there was none")
        with pool.take(OPTIONS, 1, Progress(), "a"):
            pass
