"""The paper's figures measured on this machine: see docs/paper-figures.md.

    python -m bench.figures --state DIR [--limit SECONDS] [--apps LIST] [--parts LIST] [--redo] [--plan] ...
    python -m bench.figures prepare --bundles DIR [--arch sm_90]
    python -m bench.figures report --state DIR [--page docs/paper-figures.md] [--plots docs/figures]

The first form measures what --state does not hold yet and saves each measurement at once; call it again to go on. Needs a
GPU (`--device emulated --scale 0.0001` tries it out without one); `prepare` needs nvcc and no GPU, `report` neither.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from heterodoop.errors import HeteroDoopError
from heterodoop.toolchain import nvcc

from .. import app_inputs, data, measure
from . import bundles, lanes, plots
from .options import Options
from .runner import Runner, told
from .state import State, StateError
from .steps import EIGHT, PARTS, names, pending, steps
from .tables import BEGIN, END, Section, ordered

EMULATED = "the emulated device"
PLACES = ("--state", "--bundles", "--data", "--limit", "--retry", "--redo")


def words(allowed: Sequence[str]) -> argparse._ActionType:
    def parse(text: str) -> tuple[str, ...]:
        found = tuple(text.split(","))
        wrong = [word for word in found if word not in allowed]
        if wrong:
            raise argparse.ArgumentTypeError(f"there is no {', '.join(wrong)}; there are: {', '.join(allowed)}")
        return found

    return parse


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(",") if word)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench.figures", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("command", nargs="?", default="measure", choices=["measure", "prepare", "report"])
    made.add_argument("--state", type=Path, help="folder that keeps what was measured, a JSON file per app")
    made.add_argument("--apps", type=words(list(app_inputs.INPUTS)), default=EIGHT, help="default: the paper's eight")
    made.add_argument("--parts", type=words(PARTS), default=PARTS, help="default: " + ",".join(PARTS))
    made.add_argument("--only", type=lambda t: tuple(t.split(",")), default=(), help="names of measurements: tail,...")
    made.add_argument("--redo", action="store_true", help="measure again what --apps, --parts and --only name")
    made.add_argument("--retry", action="store_true", help="measure again what failed")
    made.add_argument("--limit", type=float, default=float("inf"), help="begin nothing that would end later, in seconds")
    made.add_argument("--plan", action="store_true", help="only print what is left and how long it is expected to take")
    made.add_argument("--bundles", type=Path, help="folder of `prepare`")
    made.add_argument("--arch", default="sm_90", help="what `prepare` compiles for (default sm_90)")
    made.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="compilations at a time")
    made.add_argument("--data", type=Path, default=data.SCRATCH, help="folder for inputs and scratch files")
    made.add_argument("--device", choices=["cuda", "emulated"], default="cuda")
    made.add_argument("--scale", type=float, default=1.0, help="of all sizes and seconds, to try things out")
    made.add_argument("--cpu-seconds", type=float, default=20, help="least seconds of a CPU task (default 20)")
    made.add_argument("--cpu-at-a-time", type=int, default=1, help="apps whose CPU tasks run side by side (default 1)")
    made.add_argument("--lanes", type=int, default=1,
                      help="equal parts of the host's processors and GPUs, each of which measures an app (default 1)")
    made.add_argument("--runs", type=int, default=5, help="runs of a GPU task that count (default 5)")
    made.add_argument("--item-runs", type=int, default=3, help="the same without an item (default 3)")
    made.add_argument("--job-seconds", type=float, default=30, help="of a whole job on the CPU alone (default 30)")
    made.add_argument("--rounds", type=int, default=3, help="of whole jobs (default 3)")
    made.add_argument("--gpus", type=numbers, default=(1,), help="numbers of GPUs in whole jobs (default 1)")
    made.add_argument("--ingest", type=numbers, default=(4, 8, 12), help="threads that read, to be tried (default 4,8,12)")
    made.add_argument("--page", type=Path, help="`report`: the page whose section is replaced (default: it is printed)")
    made.add_argument("--plots", type=Path, help="`report`: folder of the plots")
    return made


def options_of(parsed: argparse.Namespace) -> Options:
    common = Options.__dataclass_fields__.keys() & vars(parsed).keys()
    return Options(**{name: _absolute(getattr(parsed, name)) for name in common})


def _absolute(value: Any) -> Any:
    return value.absolute() if isinstance(value, Path) else value


def facts(options: Options) -> dict[str, str]:
    """What the numbers depend on, kept with each of them. Raises SystemExit where there is no GPU."""
    host = measure.machine()
    card, driver = (EMULATED, "") if options.device == "emulated" else graphics_card()
    commit = _commit() or str(bundles.read_index(options.bundles).get("commit", "not known"))
    return {"card": card, "driver": driver, "device": options.device, "date": time.strftime("%Y-%m-%d"), "commit": commit,
            "processor": host["processor"], "cores": host["cores"], "lanes": str(options.lanes), "system": host["system"],
            "command": " ".join(["python -m bench.figures", *_telling(sys.argv[1:])])}


def _telling(arguments: Sequence[str]) -> Iterator[str]:
    """The command line without where things lie and how long it may take, which change no number."""
    skip = False
    for word in arguments:
        name, equals, _ = word.partition("=")
        if not skip and name not in PLACES:
            yield word
        skip = not skip and name in PLACES and not equals and name not in ("--retry", "--redo")


def graphics_card() -> tuple[str, str]:
    """(name, driver's version) of the first GPU."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        lines = subprocess.run(query, check=True, capture_output=True, text=True).stdout.splitlines()
        name, _, driver = lines[0].partition(", ")
    except (OSError, subprocess.CalledProcessError, IndexError):
        raise SystemExit("there is no GPU here (nvidia-smi names none); --device emulated tries things out") from None
    return name.strip(), driver.strip()


def _commit() -> str:
    """"" where this is no checkout, or there is no git."""
    try:
        done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=bundles.ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def check_only(parsed: argparse.Namespace, options: Options) -> None:
    """Raises StateError for a name in --only that no measurement has: nothing would be measured, and all would seem done."""
    known = {word for app in parsed.apps for part in PARTS for name in names(app, part, options)
             for word in (name, name.partition(" ")[0])}
    wrong = [word for word in options.only if word not in known]
    if wrong:
        raise StateError(f"--only: there is no {', '.join(wrong)}; there are: {', '.join(sorted(known))}")


def measure_all(parsed: argparse.Namespace, begin: float) -> None:
    options = options_of(parsed)
    check_only(parsed, options)
    state = State(options.state)
    for app, part in [(a, p) for a in parsed.apps for p in parsed.parts if not parsed.plan]:
        chosen = [step.name for step in steps([app], part, options)]
        if parsed.redo and chosen:
            state.forget(app, part, chosen)
        if parsed.retry:
            state.forget_failed(app, part)
    left = [step for part in parsed.parts for step in pending(steps(parsed.apps, part, options), state)]
    print("\n".join(told(left, options, state)) or "nothing is left to measure", flush=True)
    if parsed.plan or not left:
        return
    least = max(options.gpus) if options.device == "cuda" else 0
    divided = lanes.divide(options.lanes, sorted(os.sched_getaffinity(0)), lanes.visible_gpus(), least)
    of_here = facts(options)
    state.check_card(of_here["card"], sorted({step.part for step in left}))
    print(f"{of_here['card']}, {of_here['processor']}, {of_here['cores']} cores", flush=True)
    arch = "none" if options.device == "emulated" else nvcc.of_this_machine()[0]
    left = Runner(options, state, arch, of_here, begin + parsed.limit, lambda text: print(text, flush=True), divided).run(
        parsed.apps, parsed.parts)
    lines = list(told(left, options, state))
    print("left: " + "; ".join(lines) if lines else "all is measured", flush=True)


def prepare(parsed: argparse.Namespace) -> None:
    size = bundles.prepare(parsed.bundles.absolute(), parsed.apps, parsed.arch, _commit(), parsed.jobs)
    print(f"{parsed.bundles}: {size / 2**20:.1f} MiB")


def report(parsed: argparse.Namespace) -> None:
    state = State(parsed.state)
    apps = ordered(state)
    if not apps:
        raise StateError(f"{parsed.state} holds no measurements")
    pictures: list[tuple[str, str]] = []
    if parsed.plots and plots.available():
        beside = parsed.page.parent if parsed.page else Path()
        pictures = [(title, os.path.relpath(path, beside)) for title, path in plots.draw(state, apps, parsed.plots)]
    elif parsed.plots:
        print(plots.MISSING, file=sys.stderr)
    text = Section(state, apps, pictures).text()
    if parsed.page:
        parsed.page.write_text(replaced(parsed.page.read_text(encoding="utf-8"), text), encoding="utf-8")
    else:
        print(text, end="")


def replaced(page: str, section: str) -> str:
    """The page with this section instead of the one between the marks. Raises StateError where they are missing."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(f"{END}\n")
    if not begin or not end:
        raise StateError(f"the page has no section between {BEGIN} and {END}")
    return before + section + after


def main() -> int:
    begin = time.monotonic()
    made = parser()
    parsed = made.parse_args()
    needed = "bundles" if parsed.command == "prepare" else "state"
    if getattr(parsed, needed) is None:
        made.error(f"{parsed.command} needs --{needed}")
    try:
        if parsed.command == "measure":
            measure_all(parsed, begin)
        else:
            {"prepare": prepare, "report": report}[parsed.command](parsed)
    except (StateError, HeteroDoopError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
