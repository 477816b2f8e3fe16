"""`heterodoop driver start|stop|restart|status|top`: from words to a configuration, and from a state to text.

Not here: the driver (driver/server.py).
"""

from __future__ import annotations

import json
import os
import signal
import time
from typing import Any

import click

from ..daemon.start import say_ready
from ..driver.cluster.knowledge import source_for
from ..driver.job.gpus import CUDA, EMULATED, DeviceWish
from ..driver.job.host import AUTO, MOST, processors
from ..driver.server import Config, Server
from ..driver.wire import admin, control, place
from ..driver.wire.place import DriverPlace
from ..driver.wire.protocol import Type
from ..errors import ToolError, UsageError
from ..executor.gpu.gpus import MIB
from ..job.jobconf import parse_count, parse_size
from ..storage import hadoop_conf

STOP_SECONDS = 3600.0
NOW_SECONDS = 20.0
_STARTED_WITH = ("dir", "node_port", "memory", "gpu_memory", "gpu_memory_share", "queue", "store", "work", "tcp", "gpus",
                 "cpu", "device", "sessions")


def where(dir: str | None, node_port: str | None) -> DriverPlace:
    """Raises UsageError HD032: no port."""
    return DriverPlace(place.folder_of(dir or ""), parse_count(node_port, "--node-port", 1, 65535) if node_port else 0)


def start(foreground: bool, ready_fd: int, **options: Any) -> int:
    """Returns the exit status."""
    here = where(options["dir"], options["node_port"])
    words = _words(options)
    if foreground:
        serve(here, words, ready_fd, options)
        return 0
    _config(here, words, options)  # what is wrong with the options is said at once
    if ended := control.start(here, words):
        click.echo(ended.said or f"heterodoop: the driver ended with status {ended.status}", err=True)
        return ended.status or 1
    state = admin.ask(here, Type.STATUS)
    click.echo(f"driver {state['pid']} serves {_served(state)} at {state['socket']}")
    return 0


def _served(state: dict[str, Any]) -> str:
    slots = state["host"]["slots"]
    host = [f"{slots} host kernel{'' if slots == 1 else 's'} at a time"] if slots else []
    gpus = [f"{len(state['gpus'])} {state['device']} device(s)"] if state["gpus"] else []
    return " and ".join([*gpus, *host])


def serve(here: DriverPlace, words: tuple[str, ...], ready_fd: int, options: dict[str, Any]) -> None:
    """The driver's process. SIGTERM and Ctrl-C end it as `stop` does, the second time as `stop --now`."""
    conf = hadoop_conf.load()
    config = _config(here, words, options)._replace(foreground=ready_fd < 0)
    with Server(config, conf, source_for(conf)) as server:

        def end(number: int, frame: object) -> None:
            server.stop(now=server.stopping)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if ready_fd >= 0:
            say_ready(ready_fd)
        server.run()


def stop(dir: str | None, node_port: str | None, now: bool) -> None:
    state = control.stop(where(dir, node_port), now, NOW_SECONDS if now else STOP_SECONDS)
    click.echo(f"driver {state.get('pid', '')} has ended".replace("  ", " "))


def restart(dir: str | None, node_port: str | None, now: bool) -> int:
    """The same options as before."""
    here = where(dir, node_port)
    state = control.stop(here, now, NOW_SECONDS if now else STOP_SECONDS)
    words = state.get("options")
    if not isinstance(words, list):
        raise ToolError("the driver that ended did not say its options", code="HD613", help="heterodoop driver start")
    if ended := control.start(here, [str(word) for word in words]):
        click.echo(ended.said, err=True)
        return ended.status or 1
    click.echo(f"driver {admin.ask(here, Type.STATUS)['pid']} serves at {here.socket}")
    return 0


def status(dir: str | None, node_port: str | None, as_json: bool) -> None:
    state = admin.ask(where(dir, node_port), Type.STATUS)
    click.echo(json.dumps(state, indent=1, sort_keys=True) if as_json else text_of(state), nl=as_json)


def top(dir: str | None, node_port: str | None, seconds: float) -> None:
    """Once a second, until Ctrl-C or the driver's end."""
    here = where(dir, node_port)
    while True:
        text = text_of(admin.ask(here, Type.STATUS))
        click.clear()
        click.echo(text, nl=False)
        time.sleep(seconds)


def text_of(state: dict[str, Any]) -> str:
    """A driver's state for a person."""
    queue, memory, counts = state["queue"], state["memory"], state["counts"]
    ending = ", stopping" if state["stopping"] else ""
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(state["since"]))
    lines = [
        f"driver {state['pid']} since {since}{ending}: {state['socket']}",
        f"queue {queue['waiting']} of {queue['limit']}, running {queue['running']}; splits {_mib(memory['splits'])} of"
        f" {_mib(memory['limit'])} MiB, files {_mib(state['store']['bytes'])} of {_mib(state['store']['limit'])} MiB,"
        f" process {_mib(memory['resident'])} MiB",
        f"files from {state['filesystem']}; {state['knowledge']['source']}: {state['knowledge']['detail']}",
        "attempts: " + (", ".join(f"{name} {n}" for name, n in sorted(counts.items())) or "none yet"),
        f"lent to jobs of `heterodoop run`: {state['lent']['times']} times, now {len(state['lent']['now'])}",
        f"{'GPU':20} {'tasks':>7} {'seconds':>9} {'MiB':>9} {'restarts':>8}  state",
    ]
    for gpu in state["gpus"]:
        lines += [_gpu_line(gpu), *_share_lines(gpu)]
    lines += [_host_line(state["host"])] if state["host"]["slots"] else []
    lines += [_lease_line(lease) for lease in state["leases"] if lease["state"] != "cpu"]
    lines += [_loan_line(loan) for loan in state["lent"]["now"]]
    return "\n".join(lines) + "\n"


def _gpu_line(gpu: dict[str, Any]) -> str:
    how = gpu["out_of_service"] or ("ready" if gpu["ready"] else "starting")
    if not gpu["out_of_service"] and gpu["last_fault"]:
        how += f"; last fault: {gpu['last_fault']}"
    memory = f", {_mib(gpu['memory_free_at_start'])} MiB were free" if gpu.get("memory_total") else ""
    name, size = f"{gpu['gpu']} {gpu['name']}", _mib(gpu["bytes"])
    return f"{name[:20]:20} {gpu['tasks']:7} {gpu['seconds']:9.2f} {size:>9} {gpu['restarts']:8}  {how}{memory}"


def _share_lines(gpu: dict[str, Any]) -> list[str]:
    """Who else has a part of its memory; nothing where nobody may."""
    if gpu.get("share", 100) == 100:
        return []
    own = f"  memory: {gpu['share']} % ({_mib(gpu['memory_limit'])} MiB for tasks) by this driver"
    return ["; ".join([own, *(f"{one['share']} % by process {one['pid']} of user {one['uid']}" for one in gpu["others"])])]


def _host_line(host: dict[str, Any]) -> str:
    size = _mib(host["bytes"])
    return f"{'host kernels':20} {host['tasks']:7} {host['seconds']:9.2f} {size:>9} {'':8}  {host['slots']} at a time"


def _loan_line(loan: dict[str, Any]) -> str:
    """A task of `heterodoop run`."""
    where = "waits for a GPU" if loan["gpu"] is None else f"has a session of GPU {loan['gpu']}"
    return f"  {loan['job']} {where}"


def _lease_line(lease: dict[str, Any]) -> str:
    ahead = f", {lease['ahead']} ahead" if lease["ahead"] is not None else ""
    place = f" on GPU {lease['gpu']}" if lease.get("gpu") is not None else ""
    whose = f" of {lease['user']}" if lease.get("user") else ""
    return f"  {lease['attempt']}{whose} {lease['state']}{place}{ahead}: {lease['text']} {lease['fraction']:.0%}"


def _mib(nbytes: int) -> str:
    return str(nbytes // MIB)


def _config(here: DriverPlace, words: tuple[str, ...], options: dict[str, Any]) -> Config:
    """Raises UsageError HD032."""
    if options["device"] not in (CUDA, EMULATED):
        raise UsageError(f"--device {options['device']!r}: must be {CUDA} or {EMULATED}", code="HD032")
    gpu_memory = parse_size(options["gpu_memory"], "--gpu-memory") if options["gpu_memory"] else 0
    sessions = parse_count(options["sessions"], "--sessions", 1, 16)
    share = parse_count(options["gpu_memory_share"], "--gpu-memory-share", 1, 100) if options["gpu_memory_share"] else 0
    cpu = options["cpu"]
    host = processors() if cpu == AUTO else parse_count(cpu, "--cpu", 1, MOST) if cpu is not None else 0
    wish = DeviceWish(options["device"], options["gpus"], sessions, memory=gpu_memory, share=share)
    return Config(
        here, control.work_folder(here, options["work"] or ""), wish, parse_size(options["memory"], "--memory"),
        parse_size(options["store"], "--store"), parse_count(options["queue"], "--queue", 1, 100_000), options["tcp"],
        host=host, words=words,
    )


def _words(options: dict[str, Any]) -> tuple[str, ...]:
    """The options again as words; paths absolute, since the driver runs in /."""
    words: list[str] = []
    for name in _STARTED_WITH:
        value, option = options[name], f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value:
            words += [option, os.path.abspath(value) if name in ("dir", "work") else str(value)]
    return tuple(words)
