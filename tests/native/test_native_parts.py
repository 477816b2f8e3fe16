"""The smallest parts of the collector (checksum, vints, line cutting, sorting helpers): checks written in C++."""

from __future__ import annotations

import subprocess

from .programs import build, environment


def test_unit_checks() -> None:
    run = subprocess.run([build("unit_checks")], capture_output=True, text=True, env=environment())
    assert (run.returncode, run.stdout, run.stderr) == (0, "0 failures\n", "")
