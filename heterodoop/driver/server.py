"""The driver itself: supervisor of a node's GPU workers and host kernels, with a thread per connection. No CUDA and no user
code in it.

    with Server(config) as server:      starts workers, listens
        server.run()                    until stop()

Its workers and helpers die with it (PR_SET_PDEATHSIG), map attempts see a closed socket and run on the CPU. Not here: one
connection (conversation.py), starting in the background (control.py).
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from .. import __version__
from ..daemon.log import Log
from ..daemon.processes import resident
from ..daemon.start import allow_descriptors
from ..executor.lent import terms
from ..executor.native.runtime import Native
from ..scheduler.node.lease import Lease
from ..scheduler.node.machine import NodeMachine
from ..storage.hadoop_conf import HadoopConf
from .cluster.knowledge import Nothing, Source
from .conversation import OFFER_SECONDS, Conversation, Services
from .job.fetch import OwnFiles, SplitMemory
from .job.files import FileStore, Folders
from .job.gpus import DeviceWish, Gpus
from .job.host import HostKernels
from .job.jobs import Jobs
from .job.modules import Modules
from .job.removals import Removals
from .job.speedups import Speedups
from .job.tasks import Tasks
from .job.work import WorkFolder
from .lending import Lending
from .node import Node, Ticket, World
from .tally import Tally
from .wire import admin, place
from .wire.lobby import Lobby
from .wire.place import DriverPlace
from .wire.protocol import BIG_CONTROL, ConnectionClosed, Malformed, Message, PeerSilent, Stream, Type

CONNECTIONS = 1024  # of attempts at a time; one on the CPU keeps its own until it ends
UNPROVEN = 64  # over TCP, of those that have not proved who they are
SILENT = 256  # that have not said what they want
_AT_ONCE = 32  # accepted at one listener before the other one has its turn
_ADMIN_SECONDS = 5.0  # for an administrator to take his answer: the next one waits
_KEEP_SECONDS = 1.0  # between two looks at what is left over
_DRAIN_SECONDS = 0.1
_SHOWN = 500  # leases of a status


class Config(NamedTuple):
    """What `driver start` was told. Sizes in bytes.

    work     folder for jobs' files, bundles and results; emptied at the start.
    host     host kernels at a time; with some the driver needs no GPU.
    memory   for splits that are read; store: for jobs' files.  queue: attempts that may wait.
    tcp      listen at a port of 127.0.0.1 too.
    words    the options as they were given, for `driver restart`.
    """

    place: DriverPlace
    work: Path
    wish: DeviceWish = DeviceWish("cuda")
    memory: int = 4 << 30
    store: int = 8 << 30
    queue: int = 64
    tcp: bool = False
    host: int = 0
    foreground: bool = False
    words: tuple[str, ...] = ()


class Server:
    """See the module. Use it as a context, in which the lock is held; entering raises UsageError, ToolError, DeviceError."""

    def __init__(self, config: Config, conf: HadoopConf, source: Source | None = None) -> None:
        self.config = config
        self._conf = conf
        self._source = source or Nothing()
        self._stack = ExitStack()
        self._removals = Removals()
        self._streams: set[Stream] = set()
        self._unproven, self._silent = Lobby(UNPROVEN), Lobby(SILENT)
        self._lock = threading.Lock()
        self._answering = threading.Lock()  # an administrator: the end waits until he has his answer
        self._stopping = threading.Event()
        self._now = threading.Event()
        self.since = time.time()

    def __enter__(self) -> Server:
        config = self.config
        allow_descriptors()
        place.check_folder(config.place.folder, create=True)
        with ExitStack() as stack:
            stack.enter_context(place.locked(config.place))
            place.remove_leftovers(config.place)
            work = stack.enter_context(WorkFolder(config.work, ("store", "folders", "attempts", "modules")))
            self.log = Log(config.place.log, config.foreground)
            stack.callback(self.log.close)
            self._services = self._start(stack, work)
            self._listeners = self._listen(stack)
            self._stack = stack.pop_all()
        self.log.event("started", pid=os.getpid(), version=__version__, device=config.wish.device,
                       gpus=self._services.gpus.count, host=config.host, socket=config.place.socket)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None,
    ) -> None:
        self._now.set()
        self._shut_all()
        self.log.event("stopped")
        self._stack.close()

    def _start(self, stack: ExitStack, work: WorkFolder) -> Services:
        config = self.config
        native = Native.load()
        gpus = Gpus(config.wish, needed=not config.host)
        stack.callback(gpus.close)
        gpus.start()
        machine = NodeMachine(len(gpus.states()), config.wish.sessions, config.queue, config.host)
        node = Node(machine, lambda: World(gpus.states(), self.stopping), gpus.renew)
        store = FileStore(config.work / "store", config.store, lambda what: self.log.event("store", what=what))
        folders = Folders(store, config.work / "folders", self._removals)
        jobs = Jobs(native, config.wish.device, folders, node.unfit)
        cluster = OwnFiles(self._conf)
        stack.callback(cluster.close)
        self.memory = SplitMemory(config.memory)
        host = HostKernels(native, config.host)
        tasks = Tasks(native, gpus, cluster, self.memory, config.work / "attempts", self._removals, host)
        speedups = Speedups(node, gpus.names)
        stack.callback(speedups.save, every=True)
        self._source.start(node)
        stack.callback(self._source.stop)
        modules = Modules(config.work / "modules")
        return Services(native, gpus, host, store, folders, jobs, tasks, node, speedups, self._source, self.log, work,
                        modules, terms.here(), Tally())

    def _listen(self, stack: ExitStack) -> selectors.BaseSelector:
        selector = stack.enter_context(selectors.DefaultSelector())
        here = self.config.place
        unix = stack.enter_context(place.listen(here))
        stack.callback(here.socket.unlink, missing_ok=True)
        selector.register(unix, selectors.EVENT_READ, False)
        if self.config.tcp:
            self._secret = place.secret(here)
            tcp = stack.enter_context(place.listen_tcp(here))
            stack.callback(here.tcp_port.unlink, missing_ok=True)
            selector.register(tcp, selectors.EVENT_READ, True)
        for key in selector.get_map().values():
            key.fileobj.setblocking(False)  # type: ignore[union-attr]
        return selector

    def run(self) -> None:
        """Serve until `stop`, and then until no attempt needs a GPU any more, or until `stop` at once."""
        kept = 0.0
        while not self._now.is_set():
            if self._stopping.is_set() and not self._services.node.holds_device():
                break
            for key, _ in self._listeners.select(_DRAIN_SECONDS if self._stopping.is_set() else _KEEP_SECONDS):
                for _ in range(_AT_ONCE):
                    if not self._accept(key.fileobj, key.data):  # type: ignore[arg-type]
                        break
            if time.monotonic() - kept > _KEEP_SECONDS:
                kept = time.monotonic()
                self._keep(kept)

    def stop(self, now: bool = False) -> None:
        """No new leases; `now`: and end those that are. Any thread, and a signal handler, may call it."""
        self._stopping.set()
        if now:
            self._now.set()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def _keep(self, now: float) -> None:
        try:
            self._removals.again()
            self._services.speedups.save()
            for job in self._services.jobs.forget_idle(now):
                self._services.node.forget(job)
                self.log.event("forgotten", job=job)
        except Exception:  # a bug of ours: attempts are served all the same
            self._internal_error()

    def _internal_error(self) -> None:
        self.log.count("internal_errors")
        self.log.event("internal_error", trace=traceback.format_exc())

    def _accept(self, listener: socket.socket, tcp: bool) -> bool:
        """Whether there was a connection."""
        try:
            sock, _ = listener.accept()
        except OSError as error:  # gone already; or no descriptors left: do not spin
            if not isinstance(error, BlockingIOError | ConnectionError):
                time.sleep(_DRAIN_SECONDS)
            return False
        if self._is_strange(sock, tcp):
            Stream(sock).close()
            self.log.count("strangers")
            return True
        stream = Stream(sock)
        with self._lock:
            self._streams.add(stream)
        if (self._unproven if tcp else self._silent).enter(stream):
            self.log.count("pushed_out")
        try:
            threading.Thread(target=self._serve, args=(stream, tcp), name="attempt", daemon=True).start()
        except RuntimeError:  # no thread left
            self._end(stream)
        return True

    def _is_strange(self, sock: socket.socket, tcp: bool) -> bool:
        """Whether it is of another user, as far as the kernel says so before anything is read of it."""
        try:
            if tcp:
                return place.peer_uid(sock) not in (None, os.getuid())
            place.admit(sock)
        except (ConnectionClosed, OSError):  # OSError: it is gone
            return True
        return False

    def _serve(self, stream: Stream, tcp: bool) -> None:
        try:
            if tcp:
                place.handshake(stream, self._secret)
                self._unproven.leave(stream)
                self._silent.enter(stream)
            kinds = (Type.OFFER, Type.STATUS, Type.STOP, *(() if tcp else (Type.LEND,)))
            message = stream.receive(kinds, OFFER_SECONDS, BIG_CONTROL)
            self._silent.leave(stream)
            self._answer(stream, message)
        except ConnectionClosed as end:
            if isinstance(end, Malformed | PeerSilent):
                self.log.count("malformed" if isinstance(end, Malformed) else "silent")
                self.log.event("dropped", reason=str(end))
        except BaseException:  # a bug of ours: this attempt sees a closed socket, the others go on
            self._internal_error()
        finally:
            self._end(stream)

    def _answer(self, stream: Stream, message: Message) -> None:
        """Raises Closed."""
        if message.type in (Type.STATUS, Type.STOP):
            stream.socket.settimeout(_ADMIN_SECONDS)
            with self._answering:
                admin.answer(stream, message, self)
        elif self._services.node.attempts() >= CONNECTIONS:
            self.log.count("too_many_connections")
        elif message.type is Type.LEND:
            Lending(self._services, stream).serve()
        else:
            Conversation(self._services, stream).serve(message)

    def _end(self, stream: Stream) -> None:
        with self._lock:
            self._streams.discard(stream)
        self._unproven.leave(stream)
        self._silent.leave(stream)
        stream.close()

    def _shut_all(self) -> None:
        """Every attempt sees the end, and every thread leaves its task."""
        with self._answering, self._lock:
            streams = list(self._streams)
        self._services.node.cancel()
        for stream in streams:
            stream.shut()
        end = time.monotonic() + 5.0
        while self._streams and time.monotonic() < end:
            time.sleep(_DRAIN_SECONDS / 5)

    def status(self) -> dict[str, object]:
        """For `driver status`."""
        s, config = self._services, self.config
        leases = s.node.leases()
        return {
            "pid": os.getpid(), "since": self.since, "version": __version__, "device": config.wish.device,
            "socket": str(config.place.socket), "stopping": self.stopping, "sessions": config.wish.sessions,
            "gpus": s.gpus.status(), "host": s.host.status(),
            "queue": {**s.node.queue(), "limit": config.queue},
            "memory": {"splits": self.memory.used, "limit": config.memory, "resident": resident(os.getpid())},
            "store": {"bytes": s.store.used, "limit": config.store}, "jobs": len(s.jobs), "knowledge": s.source.status(),
            "options": list(config.words), "filesystem": self._conf.default_fs(), "connections": len(self._streams),
            "counts": dict(self.log.counts), "sums": s.tally.status(),
            "lent": {"times": s.node.lent(), "now": [_lent(lease, ticket, s.gpus) for lease, ticket in leases
                                                     if lease.kind == "lent"]},
            "leases": [_attempt(lease, ticket, s.gpus) for lease, ticket in leases if lease.kind != "lent"][:_SHOWN],
        }


def _attempt(lease: Lease, ticket: Ticket, gpus: Gpus) -> dict[str, object]:
    """A row of `driver status`. user: of the job, once it waits for a device."""
    since = time.time() - (time.monotonic() - lease.since)
    return {"lease": lease.number, "attempt": ticket.name, "state": lease.state, "since": since, "text": ticket.shown.text,
            "fraction": ticket.shown.fraction, "ahead": ticket.shown.ahead, "user": lease.user,
            "gpu": gpus.gpu(lease.session.device) if lease.session and lease.kind == "gpu" else None}


def _lent(lease: Lease, ticket: Ticket, gpus: Gpus) -> dict[str, object]:
    session = lease.session
    return {"job": ticket.name, "gpu": gpus.gpu(session.device) if session else None, "since": ticket.since}
