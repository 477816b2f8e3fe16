"""Two drivers on one GPU, each with its part of the memory: none takes more, both do their tasks, the bytes are the CPU's.

    python -m tests.on_gpu.gpu_shares [--size BYTES] [--device cuda|emulated]

Says how long each job takes alone and beside the other one, and the most memory that each worker had. Exit status 1 where
something is not as it should be. Not a test module.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from ..support import COMMAND, ROOT, environment

PARTS = (60, 30)
APP = ROOT / "apps" / "wordcount"


class Lent(NamedTuple):
    """A driver in a folder of its own."""

    folder: Path
    environment: dict[str, str]

    def say(self, *words: object, status: int = 0) -> str:
        done = subprocess.run([*COMMAND, *map(str, words)], env=self.environment, capture_output=True, text=True)
        if done.returncode != status:
            sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def gpu(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.say("driver", "status", "--json"))["gpus"][0]
        return found

    def job(self, name: str, device: str) -> float:
        """Seconds of a job on this driver's device."""
        begun = time.monotonic()
        folder = self.folder.parent
        said = self.say("run", folder / "wc.hdp", folder / "in.txt", "-o", folder / name, "--device", device, "--policy",
                        "gpu-only", "--split-size", "64m")
        assert "by driver" in said, said
        return time.monotonic() - begun


def used(pid: int) -> int:
    """MiB of GPU memory that a process has; 0 where nobody says."""
    words = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    rows = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    return sum(int(row.split(",")[1]) for row in rows if row.split(",")[0].strip() == str(pid))


def watched(drivers: list[Lent], end: threading.Event, most: list[int]) -> None:
    pids = [int(str(driver.gpu()["pid"])) for driver in drivers]
    while not end.wait(0.2):
        for number, pid in enumerate(pids):
            most[number] = max(most[number], used(pid))


def check(folder: Path, size: int, device: str) -> None:
    shared = {**environment({}), "HETERODOOP_GPU_SHARES": str(folder / "shares")}
    drivers = [Lent(folder / f"d{part}", {**shared, "HETERODOOP_DRIVER_DIR": str(folder / f"d{part}")}) for part in PARTS]
    first = drivers[0]
    sample = (APP / "sample.txt").read_bytes()
    with open(folder / "in.txt", "wb") as file:
        for _ in range(max(1, size // len(sample))):
            file.write(sample)
    first.say("compile", APP, "-o", folder / "wc.hdp", *(["--arch", "none"] if device == "emulated" else []))
    first.say("run", folder / "wc.hdp", folder / "in.txt", "-o", folder / "cpu", "--cpu-only")
    for driver, part in zip(drivers, PARTS, strict=True):
        print(driver.say("driver", "start", "--device", device, "--gpus", "0", "--gpu-memory-share", part), end="")
    third = Lent(folder / "d3", {**shared, "HETERODOOP_DRIVER_DIR": str(folder / "d3")})
    refused = third.say("driver", "start", "--device", device, "--gpus", "0", "--gpu-memory-share", 20, status=2)
    assert "[HD669]" in refused, refused
    try:
        alone = [driver.job(f"alone{number}", device) for number, driver in enumerate(drivers)]
        together, most, end = [0.0, 0.0], [0, 0], threading.Event()
        watch = [threading.Thread(target=watched, args=(drivers, end, most))] if shutil.which("nvidia-smi") else []

        def run(number: int) -> None:
            together[number] = drivers[number].job(f"together{number}", device)

        jobs = [threading.Thread(target=run, args=(number,)) for number in range(2)]
        for thread in (*watch, *jobs):
            thread.start()
        for thread in jobs:
            thread.join()
        end.set()
        for thread in watch:
            thread.join()
        for number, driver in enumerate(drivers):
            gpu = driver.gpu()
            total = int(str(gpu.get("memory_total", 0))) >> 20
            print(f"part {gpu['share']} %: {gpu['tasks']} tasks, alone {alone[number]:.2f} s, together"
                  f" {together[number]:.2f} s, at most {most[number]} of {total * PARTS[number] // 100} MiB")
            assert not total or most[number] <= total * PARTS[number] // 100, "it took more than its part"
            for name in (f"alone{number}", f"together{number}"):
                assert filecmp.cmp(folder / name / "part-00000", folder / "cpu" / "part-00000", shallow=False), name
        assert max(together) < 4 * max(alone) + 5, "one of them was starved"
    finally:
        for driver in drivers:
            print(driver.say("driver", "stop", "--now"), end="")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--size", type=int, default=1 << 30, help="bytes of input")
    options.add_argument("--device", default="cuda")
    chosen = options.parse_args()
    base = Path(tempfile.mkdtemp(prefix="hdg-", dir=os.environ.get("TMPDIR")))
    try:
        check(base, chosen.size, chosen.device)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    print("all is as it should be")


if __name__ == "__main__":
    main()
