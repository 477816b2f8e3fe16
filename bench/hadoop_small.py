"""Small jobs of word count on a real Hadoop of this machine: what they cost in containers, and as `submit` sends them now.

    python -m bench.hadoop_small [--rounds 1] [--only one,file,files,blocks] [--files 2000]

one     a file of 1 MB, in containers and in the application master.
file    a file of 20 MB, as `submit` sends it: what `files` is compared with.
files   --files files of 10 KB, as `submit` sends them; each in a map of its own would take hours of a processor.
blocks  a file of 32 blocks of 256 KiB, a container for each, and as `submit` sends it.

Starts an embedded cluster of three NodeManagers with four containers each, and ends it. Seconds are by Hadoop's clock; kinds
take turns. The two kinds of a job must print the same bytes. Needs Java and Maven, or the jars in the cache.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from heterodoop.hadoop import cluster

from . import contenders, data, measure

ROOT = Path(__file__).resolve().parent.parent
HETERODOOP = [sys.executable, "-m", "heterodoop"]
FILE = 10 << 10
BLOCK = 256 << 10
BLOCKS = 32
_CONTAINERS = ("-D", "mapreduce.job.ubertask.enable=false", "-D", "heterodoop.group.bytes=0")


class Kind(NamedTuple):
    """A job: its name, its input in HDFS, and what is told to `submit` beside it."""

    name: str
    input: str
    options: tuple[str, ...] = ()


KINDS = {
    "one": (Kind("1 MB, in containers", "/one", _CONTAINERS), Kind("1 MB", "/one")),
    "file": (Kind("one file", "/file"),),
    "files": (Kind("files of 10 KB", "/files"),),
    "blocks": (Kind("32 blocks, a map each", "/blocks", _CONTAINERS), Kind("32 blocks", "/blocks")),
}


class Bench:
    def __init__(self, running: cluster.Cluster, scratch: Path) -> None:
        self._running, self._environment, self._scratch = running, running.environment(), scratch
        self._jobs = 0

    def load(self, files: int) -> None:
        text = data.cached(files * FILE, 1).read_bytes()
        folder = self._scratch / "files"
        folder.mkdir()
        parts = [text[number * FILE : (number + 1) * FILE] + b"\n" for number in range(files)]
        for number, part in enumerate(parts):
            (folder / f"{number:06}").write_bytes(part)
        for name, content in {"file": b"".join(parts), "one": text[:1_000_000], "blocks": text[: BLOCK * BLOCKS]}.items():
            (self._scratch / name).write_bytes(content)
        self._hdfs("-put", "-t", "8", folder, "/files")
        self._hdfs("-put", self._scratch / "one", self._scratch / "file", "/")
        self._hdfs("-D", f"dfs.blocksize={BLOCK}", "-put", self._scratch / "blocks", "/")

    def _hdfs(self, *words: object) -> bytes:
        argv = [self._running.command("hdfs"), "dfs", *map(str, words)]
        quiet = subprocess.DEVNULL
        return subprocess.run(argv, env=self._environment, check=True, stdout=subprocess.PIPE, stderr=quiet).stdout

    def job(self, bundle: Path, kind: Kind) -> tuple[dict[str, Any], bytes]:
        """Its report and its output."""
        self._jobs += 1
        output = f"/out-{self._jobs}"
        words = ["submit", str(bundle), "-i", kind.input, "-o", output, "-r", "1", "--json", "--quiet"]
        argv = [*HETERODOOP, *words, *kind.options]
        done = subprocess.run(argv, env=self._environment, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr.decode()}")
        report = json.loads(done.stdout)
        told = f"{report['seconds']:.1f} s, {report['maps']} maps, uber {report['uber']}"
        print(f"{kind.name}: {told}", file=sys.stderr, flush=True)
        return report, self._hdfs("-cat", f"{output}/part-*")


@contextmanager
def started(options: argparse.Namespace, scratch: Path) -> Iterator[Bench]:
    running = cluster.up(cluster.Options(dir=scratch / "cluster"), lambda text: print(text, file=sys.stderr))
    try:
        bench = Bench(running, scratch)
        bench.load(options.files)
        yield bench
    finally:
        cluster.down(scratch / "cluster", delete=True)


def show(reports: dict[Kind, list[dict[str, Any]]]) -> None:
    seconds = {kind: statistics.median(report["seconds"] for report in some) for kind, some in reports.items()}
    print("| job | s | maps | in its application master | against |\n|---|---:|---:|---|---|")
    against = {after: before for before, after in (KINDS["one"], (*KINDS["file"], *KINDS["files"]), KINDS["blocks"])}
    for kind, taken in seconds.items():
        last, other = reports[kind][-1], against.get(kind)
        ratio = f"{taken / seconds[other]:.2f} x {other.name}" if other in seconds and other else ""
        print(f"| {kind.name} | {taken:.1f} | {last['maps']} | {'yes' if last['uber'] else 'no'} | {ratio} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(KINDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hadoop-small-") as folder:
        scratch = Path(folder)
        bundle = contenders.compiled(ROOT / "apps" / "wordcount", scratch / "wordcount.hdp", "--arch", "none")
        reports: dict[Kind, list[dict[str, Any]]] = {}
        outputs: dict[str, set[bytes]] = {}
        with started(options, scratch) as bench:
            for _ in range(options.rounds):
                for name in options.only:
                    for kind in KINDS[name]:
                        report, output = bench.job(bundle, kind)
                        reports.setdefault(kind, []).append(report)
                        outputs.setdefault("/file" if name == "files" else kind.input, set()).add(output)
            show(reports)
    facts = {**measure.machine(), "command": measure.command()}
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")
    if any(len(found) > 1 for found in outputs.values()):
        raise SystemExit("the outputs differ")


if __name__ == "__main__":
    main()
