"""What goes between the engine and a worker: messages, descriptors, and the numbers of a running task."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodoop.executor.kernel.gpu_task import KernelCall
from heterodoop.executor.kernel.native_device import DeviceOptions
from heterodoop.executor.kernel.prologue import LiveIns
from heterodoop.executor.native import abi as native_abi
from heterodoop.executor.native.runtime import Phase, Progress
from heterodoop.executor.worker.messages import Channel, OpenGpu, Reply, RunTask, SessionsReady

from .test_workers import CALL, OK, SPEC


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    one, other = (Channel(sock) for sock in socket.socketpair())
    yield one, other
    one.close()
    other.close()


def test_messages_arrive_as_they_were(ends: tuple[Channel, Channel]) -> None:
    one, other = ends
    for message in (OpenGpu(3), RunTask(SPEC, (CALL, None), DeviceOptions(sub_split=7)), Reply(OK, {"retries": 2}),
                    SessionsReady()):
        one.send(message)
        assert other.receive() == (message, -1)


def test_a_message_larger_than_the_sockets_buffer(ends: tuple[Channel, Channel]) -> None:
    one, other = ends
    large = RunTask(SPEC, (KernelCall(CALL.code, LiveIns(bytes(range(256)) * 40_000)), CALL), DeviceOptions())
    sender = threading.Thread(target=one.send, args=(large,))
    sender.start()
    assert other.receive() == (large, -1)
    sender.join()


def test_a_descriptor_travels_along_and_is_not_inherited(ends: tuple[Channel, Channel], tmp_path: Path) -> None:
    one, other = ends
    (tmp_path / "data").write_bytes(b"abc")
    with open(tmp_path / "data", "rb") as file:
        one.send(OpenGpu(1), file.fileno())
    message, fd = other.receive()
    assert message == OpenGpu(1) and os.read(fd, 10) == b"abc" and not os.get_inheritable(fd)
    os.close(fd)


@pytest.mark.parametrize("sent", [b"", b"\x05", b"\x05\0\0\0\0\0\0\0", b"\x05\0\0\0\0\0\0\0abc"])
def test_an_end_in_the_middle_of_a_message(ends: tuple[Channel, Channel], sent: bytes) -> None:
    one, other = ends
    one.socket.sendall(sent)
    one.close()
    with pytest.raises(EOFError):
        other.receive()


def test_a_head_that_is_none_is_not_waited_for(ends: tuple[Channel, Channel]) -> None:
    one, other = ends
    one.socket.sendall(b"\xff" * 8)
    with pytest.raises(OSError, match="is none of ours"):
        other.receive()


def test_numbers_of_a_task_are_where_the_other_process_writes_them() -> None:
    progress, block = Progress(), native_abi.ProgressBlock(bytes_in=99, cancel=1)
    with progress.shared(block):
        assert progress.bytes_in == 0 and not progress.cancelled
        block.bytes_in, block.phase = 5, Phase.COMBINE
        assert (progress.bytes_in, progress.phase) == (5, Phase.COMBINE)
        progress.cancel()
        assert block.cancel == 1
    block.bytes_in = 7
    assert (progress.bytes_in, progress.phase) == (5, Phase.COMBINE) and progress.cancelled


def test_a_request_to_stop_that_came_before_is_passed_on() -> None:
    progress, block = Progress(), native_abi.ProgressBlock()
    progress.cancel()
    with progress.shared(block):
        assert block.cancel == 1
    assert progress.cancelled
