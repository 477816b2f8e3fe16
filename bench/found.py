"""Programs as they are found: C map and reduce programs in the manner of public ones, one line added to each map, each way.

    python -m bench.found [--only words,join] [--jobs 2]

Prints a row for each program of bench/programs/found: whether filters, the host kernel and the emulated device print
what plain C prints (gcc, pipes, and a stable sort by key), "-" where filters did the work in their place; the lines
that were added to its map; and the seconds of a processor that it took to compile without nvcc. Below stands why a
program's records were not the device's, with the place. The last line counts. Exit status 1: an output differed,
fewer than 85 in 100 were the device's, one took longer than two seconds to compile, or a reason has no place. A
program is a folder: map.c, reduce.c and combine.c if it has them, input.txt, and the files that it reads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .measure import processor_seconds

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench" / "programs" / "found"
INPUT = "input.txt"
WAYS = {"filter": ("--filters",), "host": (), "device": ("--device", "emulated", "-D", "heterodoop.emulated.order=random")}
DEVICE_SHARE, COMPILE_SECONDS = 0.85, 2.0
_ADDED = re.compile(r"^[ \t]*#pragma mapreduce(?:.*\\\n)*.*\n", re.MULTILINE)


@dataclass
class Found:
    """What came of one program.

    equal   way -> whether its output is plain C's.
    done    ways that did the map themselves; what they cannot do, filters did.
    seconds processor time of its compilation, C compilers included.
    why     reasons against the device, each with its place.
    """

    name: str
    added: int
    equal: dict[str, bool] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    seconds: float = 0.0
    why: list[str] = field(default_factory=list)

    @property
    def device(self) -> bool:
        return "device" in self.done

    @property
    def right(self) -> bool:
        """The same bytes in every way, on the device or with a reason and its place, and compiled in time."""
        told = self.device or any(re.search(r"map\.c:\d+", reason) for reason in self.why)
        return all(self.equal.values()) and told and self.seconds <= COMPILE_SECONDS

    def row(self) -> str:
        cells = ["NO" if not same else "yes" if way in self.done else "-" for way, same in self.equal.items()]
        return f"| {' | '.join([self.name, *cells])} | {self.added} | {self.seconds:.1f} |"


def names(only: str = "") -> list[str]:
    """The programs whose names begin with one of the words of `only`."""
    return sorted(folder.name for folder in PROGRAMS.iterdir() if folder.name.startswith(tuple(only.split(","))))


def side_files(folder: Path) -> list[Path]:
    """What a program reads beside its input."""
    return [path for path in sorted(folder.glob("*.txt")) if path.name != INPUT]


def added_lines(folder: Path) -> int:
    """Lines of the map that are there for HeteroDoop."""
    return sum(text.count("\n") for text in _ADDED.findall((folder / "map.c").read_text()))


def plain(folder: Path, scratch: Path) -> bytes:
    """What the programs print by themselves: map, a stable sort by the bytes of the key, reduce. Lines as in a part file."""
    text = _piped(folder / "map.c", (folder / INPUT).read_bytes(), scratch)
    lines = sorted(text.splitlines(keepends=True), key=lambda line: line.rstrip(b"\n").split(b"\t")[0])
    if (folder / "reduce.c").is_file():
        lines = _piped(folder / "reduce.c", b"".join(lines), scratch).splitlines(keepends=True)
    return b"".join(line if b"\t" in line else line[:-1] + b"\t\n" for line in lines)


def _piped(source: Path, text: bytes, scratch: Path) -> bytes:
    binary = scratch / f"plain-{source.stem}"
    subprocess.run(["gcc", "-w", str(source), "-o", str(binary), "-lm"], check=True)
    done = subprocess.run([str(binary)], input=text, capture_output=True, cwd=source.parent, check=True)
    return done.stdout


def tried(name: str, scratch: Path) -> Found:
    """One program, compiled and run in every way, below `scratch`. Raises CalledProcessError where a command fails."""
    folder, bundle = PROGRAMS / name, scratch / "app.hdp"
    found = Found(name, added_lines(folder))
    scratch.mkdir(parents=True, exist_ok=True)
    expected, before = plain(folder, scratch), processor_seconds()
    _command("compile", folder, "-o", bundle, "--arch", "none")
    found.seconds = processor_seconds() - before
    files = [word for path in side_files(folder) for word in ("--file", path)]
    for way, options in WAYS.items():
        out = scratch / way
        _command("run", bundle, folder / INPUT, "-o", out, "-r1", "--quiet", *files, *options)
        found.equal[way] = b"".join(path.read_bytes() for path in sorted(out.glob("part-*"))) == expected
        report = json.loads(out.with_name(f"{way}.report").joinpath("report.json").read_text())
        if _did(way, report):
            found.done.add(way)
    found.why = [] if found.device else _reasons(bundle, report)
    return found


def _command(*words: object) -> None:
    done = subprocess.run([sys.executable, "-m", "heterodoop", *map(str, words)], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode())


def _did(way: str, report: Any) -> bool:
    """Whether the map task was done in that way, and not by filters in its place."""
    if way == "device":
        return list(report["device"]["map_tasks"]) == ["emulated"]
    return way == "filter" or bool(report["map"]["cpu"]["host_kernels"])


def _reasons(bundle: Path, report: Any) -> list[str]:
    """The compiler's reasons, or why the task was left to the CPU."""
    programs = {program["role"]: program for program in json.loads((bundle / "manifest.json").read_text())["programs"]}
    told = []
    for reason in programs["map"]["gpu_refusals"]:
        span = reason["span"]
        told.append(f"{Path(span['file']).name}:{span['line']}:{span['col']}: {reason['message']} [{reason['code']}]")
    return told or [f"{report['device']['left_to_cpu']}"]


def table(rows: Sequence[Found]) -> str:
    """The table, the reasons below it, and the line that counts."""
    head = "| program | filter | host kernel | emulated device | added lines | s to compile |\n|---|---|---|---|---:|---:|"
    why = [f"- {row.name}: {reason}" for row in rows for reason in row.why]
    equal, device = sum(all(row.equal.values()) for row in rows), sum(row.device for row in rows)
    last = f"{equal} of {len(rows)} equal, {device} on the device"
    return "\n".join([head, *(row.row() for row in rows), "", *why, *([""] if why else []), last])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hd-found-") as scratch, ProcessPoolExecutor(options.jobs) as pool:
        chosen = names(options.only)
        rows = list(pool.map(tried, chosen, [Path(scratch) / name for name in chosen]))
    print(table(rows))
    return int(not all(row.right for row in rows) or sum(row.device for row in rows) < DEVICE_SHARE * len(rows))


if __name__ == "__main__":
    sys.exit(main())
