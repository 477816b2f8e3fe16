"""Whose fault a failed GPU is: tasks run again alone, a probe says whether it works, and it is tried again after a rest."""

from __future__ import annotations

import threading
import time

import pytest

from heterodoop.errors import DeviceError
from heterodoop.executor.kernel.emulated import EmulatedDevice, runtime_module
from heterodoop.executor.native.runtime import Native, Progress, TaskResult, TaskStatus
from heterodoop.executor.worker import client as worker_client
from heterodoop.executor.worker.client import Limits, Worker
from heterodoop.executor.worker.messages import Reply, Setup
from heterodoop.executor.worker.process import WorkerProcess
from heterodoop.executor.worker.turns import Turns

from .test_workers import CALL, OK, SPEC, ScriptedWorker, closed, device_of, go_on, wait_for

FAILED = TaskResult(TaskStatus.DEVICE_FAILED, None, None, None, "illegal address", {}, {}, {}, "", "")


def test_who_is_alone_waits_for_the_others_and_keeps_new_ones_waiting() -> None:
    turns, order = Turns(), []
    begun, go = threading.Event(), threading.Event()

    def side(name: str) -> None:
        with turns.side_by_side(go_on):
            order.append(name)
            begun.set()
            go.wait(10)
            order.append(f"{name} ends")

    def alone() -> None:
        with turns.alone(go_on):
            order.append("alone")
            time.sleep(0.2)
            order.append("alone ends")

    threads = [threading.Thread(target=side, args=("first",))]
    threads[0].start()
    begun.wait(10)
    threads.append(threading.Thread(target=alone))
    threads[1].start()
    wait_for(lambda: turns._waiting_alone)
    threads.append(threading.Thread(target=side, args=("later",)))
    threads[2].start()
    time.sleep(0.15)
    assert order == ["first"]
    go.set()
    for thread in threads:
        thread.join(10)
    assert order == ["first", "first ends", "alone", "alone ends", "later", "later ends"]


def test_a_wait_to_be_alone_can_be_given_up() -> None:
    turns = Turns()

    def stop() -> None:
        raise InterruptedError

    with turns.side_by_side(go_on):
        with pytest.raises(InterruptedError), turns.alone(stop):
            raise AssertionError
        with turns.side_by_side(stop):  # nobody wants to be alone any more
            pass


def test_the_task_after_a_failure_is_alone(scripted: ScriptedWorker) -> None:
    device = device_of(scripted)
    thread = scripted.serve(Reply(FAILED, {}), Reply(OK, {}), Reply(OK, {}))
    assert device.map_task(SPEC, CALL, None) == FAILED
    with scripted.turns.side_by_side(go_on):
        progress = Progress()
        threading.Timer(0.3, progress.cancel).start()
        assert device.map_task(SPEC, CALL, None, progress).status is TaskStatus.CANCELLED  # it waited in vain
    assert device.map_task(SPEC, CALL, None) == OK
    with scripted.turns.side_by_side(go_on):
        assert device.map_task(SPEC, CALL, None) == OK
    thread.join()


def test_a_process_killed_from_outside_is_nobodys_fault(scripted: ScriptedWorker) -> None:
    device = device_of(scripted)
    scripted.killed = True
    thread = scripted.serve(Reply(FAILED, {}), None)
    assert device.map_task(SPEC, CALL, None).status is TaskStatus.DEVICE_FAILED
    assert device.map_task(SPEC, CALL, None).status is TaskStatus.DEVICE_LOST
    thread.join()


def test_a_gpu_that_is_out_of_service_is_nobodys_fault(scripted: ScriptedWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(check: object) -> None:
        raise DeviceError("out of service")

    monkeypatch.setattr(scripted, "process", gone)
    assert device_of(scripted).map_task(SPEC, CALL, None).status is TaskStatus.DEVICE_LOST


def worker_of(limits: Limits) -> Worker:
    made = Worker("emulated", 1, limits)
    made.start()
    made.open(0)
    made.setup(Setup(runtime_module(), None))
    return made


def test_faults_of_tasks_never_put_a_shared_gpu_out_of_service(
    kernel_cache: None, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each new process shows first that the GPU works; the first one of all need not."""
    told: list[bool] = []
    send = WorkerProcess.send

    def sent(self: WorkerProcess, message: object) -> None:
        if isinstance(message, Setup):
            told.append(message.probe)
        send(self, message)  # type: ignore[arg-type]

    monkeypatch.setattr(WorkerProcess, "send", sent)
    worker = worker_of(Limits(faults=2, forgive=True))
    for n in range(3):
        worker.fault(worker.process(go_on), f"fault {n}")
    worker.process(go_on)
    assert told == [False, True, True, True] and not worker.out_of_service and len(worker.faults) == 3
    assert closed(worker)


def test_a_gpu_out_of_service_is_tried_again_after_a_rest(kernel_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    spawn, broken = worker_client.spawn, [True]

    def start(*arguments: object) -> object:
        if broken:
            raise OSError("no more processes")
        return spawn(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(worker_client, "spawn", start)
    worker = worker_of(Limits(forgive=True, rest=0.3))
    wait_for(lambda: worker.out_of_service)
    broken.clear()
    wait_for(lambda: worker.ready)
    assert worker.out_of_service == "" and closed(worker)


def test_a_rest_ends_with_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(worker_client, "spawn", broken)
    worker = Worker("emulated", 1, Limits(rest=600))
    worker.start()
    wait_for(lambda: worker.out_of_service)
    begun = time.monotonic()
    assert closed(worker) and time.monotonic() - begun < 60


def test_a_device_that_works_passes_its_probe(kernel_cache: None) -> None:
    device = EmulatedDevice(Native.load(), runtime_module())
    device.probe()
    device.close()
