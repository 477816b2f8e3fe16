"""`heterodoop fs`: names in HDFS on the command line; the work is in `storage.webhdfs`."""

from __future__ import annotations

import contextlib
import json
import posixpath
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from ..errors import UsageError
from ..hadoop.job import client
from ..storage.webhdfs import FileStatus, Namespace


@contextlib.contextmanager
def _namespace() -> Iterator[Namespace]:
    with contextlib.closing(Namespace(client.configuration())) as found:
        yield found


def _existing(space: Namespace, name: str) -> FileStatus:
    path = space.resolve(name)
    found = space.status(path)
    if found is None:
        raise UsageError(f"{path} does not exist", code="HD634", help=f"heterodoop fs ls {posixpath.dirname(path)}")
    return found


def put(sources: tuple[str, ...], target: str) -> None:
    """Files into a folder, or one file to a name. Everything is looked at before anything is copied."""
    with _namespace() as space:
        path = space.resolve(target)
        found = space.status(path)
        into = target.endswith("/") or len(sources) > 1 or (found is not None and found.folder)
        if into and found is not None and not found.folder:
            raise UsageError(f"{path} is no folder", code="HD634")
        pairs = [(Path(source), posixpath.join(path, Path(source).name) if into else path) for source in sources]
        for local, name in pairs:
            if not local.is_file():
                what = "is a folder: name its files" if local.is_dir() else "is no file that can be read"
                raise UsageError(f"{local} {what}", code="HD634")
            space.resolve(name)
            if space.status(name):
                raise UsageError(f"{name} exists already", code="HD634", help="name another target")
        if into:
            space.make_folder(path)
        for local, name in pairs:
            space.put(local, name)


def get(source: str, target: str) -> None:
    """A file, or the files of a folder (one level deep, without hidden ones)."""
    with _namespace() as space:
        found = _existing(space, source)
        local = Path(target)
        if not found.folder:
            space.get(found.name, local / posixpath.basename(found.name) if local.is_dir() else local)
            return
        try:
            local.mkdir(exist_ok=True)
        except OSError as error:
            raise UsageError(f"{local}: {error.strerror}", code="HD634") from None
        for entry in _visible(space, found):
            space.get(entry.name, local / posixpath.basename(entry.name))


def ls(paths: tuple[str, ...], *, as_json: bool) -> None:
    with _namespace() as space:
        entries = [entry for name in paths or (".",) for entry in space.list(_existing(space, name).name)]
    if as_json:
        click.echo(json.dumps([entry._asdict() for entry in entries], indent=1))
        return
    width = max((len(str(entry.size)) for entry in entries), default=1)
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.modified / 1000))
        rights = f"{'d' if entry.folder else '-'}{entry.mode:03o}  {entry.owner}:{entry.group}"
        click.echo(f"{rights}  {entry.size:>{width}}  {when}  {entry.name}")


def cat(paths: tuple[str, ...]) -> None:
    with _namespace() as space:
        for name in paths:
            found = _existing(space, name)
            for entry in _visible(space, found) if found.folder else [found]:
                for piece in space.read(entry.name):
                    sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()


def rm(paths: tuple[str, ...], *, folders: bool, force: bool) -> None:
    """Remove files, and with `folders` folders with all that is in them. Everything is looked at before anything is removed.

    Raises UsageError HD634 (a path), HD660 (too much at once).
    """
    with _namespace() as space:
        found = [_existing(space, name) for name in paths]
        for entry in found:
            if entry.folder and not folders:
                raise UsageError(f"{entry.name} is a folder", code="HD634", help="-r removes it with all that is in it")
            if not force and _is_precious(entry.name, space.resolve(".")):
                raise UsageError(f"{entry.name} holds your home or other people's", code="HD660",
                                 help="name what is in it; -f removes it all the same")
        for entry in found:
            space.remove(entry.name)


def _is_precious(path: str, home: str) -> bool:
    """The root, a home, what is above one, and what all share."""
    return posixpath.commonpath([path, home]) == path or posixpath.dirname(path) == "/user" or path == "/tmp"


def _visible(space: Namespace, folder: FileStatus) -> list[FileStatus]:
    """Its files, without those that Hadoop takes for hidden."""
    return [entry for entry in space.list(folder.name) if not entry.folder and posixpath.basename(entry.name)[0] not in "._"]
