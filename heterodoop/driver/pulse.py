"""What a conversation says while a device works: how far the task is, and that it should rather run on the CPU."""

from __future__ import annotations

import time
from contextlib import ExitStack
from threading import Event, Lock, Thread

from ..scheduler.node.model import Why
from .job.offer import Declined
from .job.tasks import Say
from .node import Node
from .wire.protocol import ConnectionClosed, Field, Stream, Type

PULSE_SECONDS = 1.0
_LOOK_SECONDS = 0.2
SLOWER = Why("the GPU is slower than this container's processor")


class TakenBack(Declined):
    """The task was told to run on the CPU while it still had a GPU, or waited for one."""

    def __init__(self) -> None:
        super().__init__(*SLOWER)


class Pulse:
    """Tells the task once a second how far it is, cancels it when the task is gone, and takes it back from a GPU when its
    container would be done sooner: at once, also while a kernel runs that nothing can stop.

    asking      held while the task is asked for something, and may not be told anything else.
    taken_back  it was told; nothing else is then sent.
    """

    def __init__(self, stream: Stream, lease: int, say: Say, node: Node) -> None:
        """lease: its number."""
        self._stream = stream
        self._lease = lease
        self._say = say
        self._node = node
        self._end = Event()
        self._thread = Thread(target=self._run, name="pulse", daemon=True)
        self.asking = Lock()
        self.taken_back = False

    def __enter__(self) -> Pulse:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Nothing is told from here on."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        said = float("-inf")
        try:
            while not self._end.is_set():
                if self._stream.gone():
                    break
                if self._node.overtaken(self._lease, self._say.fraction) and self._takes_back():
                    break
                if time.monotonic() - said >= PULSE_SECONDS:
                    said = time.monotonic()
                    self._tell()
                self._end.wait(_LOOK_SECONDS)
            else:
                return
        except ConnectionClosed:
            pass
        self._say.progress.cancel()

    def _takes_back(self) -> bool:
        """False: the task is being asked for something now."""
        if not self.asking.acquire(blocking=False):
            return False
        with ExitStack() as held:
            held.callback(self.asking.release)
            self.taken_back = True
            why = TakenBack()
            self._stream.send(Type.REFUSED, ("reason", why.reason), ("code", why.code))
            return True

    def _tell(self) -> None:
        ahead = self._say.ahead
        queue: list[Field] = [] if ahead is None else [("ahead", ahead)]
        text = self._say.text if ahead is None else f"waiting for {self._say.waits_for}, {ahead} ahead"
        self._stream.send(Type.PROGRESS, ("text", text), ("fraction", self._say.fraction), *queue)
