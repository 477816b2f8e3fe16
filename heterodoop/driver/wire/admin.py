"""`heterodoop driver` and the running driver: what is going on, and the order to end. JSON in a frame of the same socket.

Not here: processes (control.py).
"""

from __future__ import annotations

import json
import socket
from typing import Any, Protocol

from ...daemon.lock import owner_of
from ...errors import ToolError
from . import place
from .place import DriverPlace
from .protocol import BIG_CONTROL, ConnectionClosed, Message, Stream, Type

ASK_SECONDS = 10.0


class Administered(Protocol):
    """The server, as its administrator sees it."""

    def status(self) -> dict[str, object]: ...

    def stop(self, now: bool = False) -> None: ...


def answer(stream: Stream, message: Message, server: Administered) -> None:
    """Serve STATUS or STOP."""
    if message.type is Type.STOP:
        server.stop(message.flag("now"))
    stream.send(Type.STATE, ("json", json.dumps(server.status())))


def ask(here: DriverPlace, type: Type, now: bool = False) -> dict[str, Any]:
    """What the driver says of itself. Raises UsageError HD612: its folder is not safe; ToolError HD613: nobody answers."""
    if here.folder.exists():
        place.check_folder(here.folder)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    stream = Stream(sock)
    try:
        sock.connect(str(here.socket))
        place.admit(sock)
        stream.send(type, ("now", int(now)))
        said = stream.receive((Type.STATE,), ASK_SECONDS, BIG_CONTROL)
        state: dict[str, Any] = json.loads(said.raw("json"))
        return state
    except (OSError, ConnectionClosed, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        owner = owner_of(here.lock)
        lives = f"; {owner} holds its lock" if owner else ""
        raise ToolError(f"no driver answers at {here.socket}: {why}{lives}", code="HD613",
                        help="heterodoop driver start") from None
    finally:
        stream.close()
