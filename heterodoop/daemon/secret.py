"""A secret that two processes share by a file, and how they prove to each other that they know it.

Proofs are HMAC-SHA256 over a label, which says who proves, and nonces. Not here: how a proof travels, which is a protocol's.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from pathlib import Path

from .. import scratch

BYTES = 32  # of a secret, and of a nonce
_SECRET = re.compile(rb"[0-9a-f]{64}\Z")


class SecretUnfit(Exception):
    """Why a file cannot hold a secret."""


class SecretNotPrivate(SecretUnfit):
    """It is not its user's alone."""


def read(path: Path, forbidden: int = 0o377) -> bytes:
    """The secret in a file: 64 hexadecimal digits. `forbidden`: bits that its mode may not have. Raises Unfit."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            found = os.fstat(fd)
            text = file.read(256).strip() if stat.S_ISREG(found.st_mode) else b""
    except OSError as error:
        raise SecretUnfit(error.strerror or str(error)) from None
    if found.st_uid != os.getuid():
        raise SecretNotPrivate(f"it belongs to user {found.st_uid}")
    if found.st_mode & forbidden:
        raise SecretNotPrivate(f"its mode is {stat.S_IMODE(found.st_mode):04o}, not 0400")
    if not _SECRET.match(text):
        raise SecretUnfit("it is not 64 hexadecimal digits")
    return bytes.fromhex(text.decode())


def make(path: Path) -> None:
    """Write a new secret, mode 0400 from the first moment, whole or not at all. Raises Unfit.

    Of several that make one at a time, one makes it; the others' is an Unfit too, and a secret is there.
    """
    try:
        with scratch.folder(".making-", path.parent) as folder:
            fd = os.open(folder / path.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o400)
            with os.fdopen(fd, "wb") as file:
                file.write(os.urandom(BYTES).hex().encode() + b"\n")
                file.flush()
                os.fsync(fd)
            os.link(folder / path.name, path)
    except OSError as error:
        raise SecretUnfit(error.strerror or str(error)) from None


def nonce() -> bytes:
    return secrets.token_bytes(BYTES)


def proof(key: bytes, label: bytes, nonces: bytes) -> bytes:
    """What only one that knows the key can say of these nonces, in the name of `label`."""
    return hmac.digest(key, label + nonces, "sha256")


def proves(said: bytes, key: bytes, label: bytes, nonces: bytes) -> bool:
    """Whether `said` is that proof; takes as long whether it is or not."""
    return hmac.compare_digest(said, proof(key, label, nonces))
