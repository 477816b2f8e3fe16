"""A secret in a file, and proofs that both know it: none of them serves for another label, nonce or key."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from heterodoop.daemon import secret


def test_of_several_that_make_one_all_have_the_same(tmp_path: Path) -> None:
    path, found = tmp_path / "secret", set()

    def take() -> None:
        try:
            secret.make(path)
        except secret.SecretUnfit as why:
            assert "exists" in str(why)
        found.add(secret.read(path))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 1 and len(found.pop()) == secret.BYTES and os.listdir(tmp_path) == ["secret"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


def test_what_others_may_read_is_open_as_far_as_it_matters(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    secret.make(path)
    path.chmod(0o600)
    with pytest.raises(secret.SecretNotPrivate, match="0600, not 0400"):
        secret.read(path)
    assert len(secret.read(path, 0o077)) == secret.BYTES
    path.chmod(0o440)
    with pytest.raises(secret.SecretNotPrivate, match="0440"):
        secret.read(path, 0o077)


def test_a_proof_is_of_one_key_label_and_nonce() -> None:
    key, nonce = secret.nonce(), secret.nonce()
    said = secret.proof(key, b"driver", nonce)
    assert len(said) == 32 and secret.proves(said, key, b"driver", nonce)
    for other in ((secret.nonce(), b"driver", nonce), (key, b"task", nonce), (key, b"driver", secret.nonce())):
        assert not secret.proves(said, *other)
    assert not secret.proves(b"", key, b"driver", nonce)
