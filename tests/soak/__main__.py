"""Random faults in one command: kills, stops, full disks, failing calls, damaged bytes, deaths of drivers and workers.

    python -m tests.soak --faults 10000 --seed 1 [--jobs 16] [--device cuda] [--only kill,disk] [--page docs/soak.md]
    python -m tests.soak --repeat SEED [--times 5]

Exit status 1 where anything was wrong; docs/soak.md says what is counted. What failed is kept in build/soak/failures.jsonl.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from heterodoop.toolchain import cache

from ..support import ROOT, Bundles
from . import faults, report, runner
from .report import Totals
from .runner import Pool, Setting, Told

KEEP = ROOT / "build" / "soak"


def main() -> int:
    options = parse()
    scratch = Path(tempfile.mkdtemp(prefix="soak-", dir=options.scratch))
    if options.device != "cuda":
        os.environ.setdefault("HETERODOOP_ARCH", "none")
    setting = Setting(scratch, options.jobs, devices(options.device), families(options.only), options.limit)
    totals, begun = Totals(options.seed), time.monotonic()
    KEEP.mkdir(parents=True, exist_ok=True)
    try:
        with Pool(setting, made()) as pool, open(KEEP / "failures.jsonl", "w") as kept:
            seeds, enough = wanted(options, totals)
            pool.run(seeds, enough, lambda told: take(told, totals, kept, bool(options.repeat)))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    totals.seconds = time.monotonic() - begun
    tell(totals, options)
    return 1 if totals.failed else 0


def made() -> Bundles:
    """Bundles of this very compiler, kept from one soak to the next."""
    state = cache.tree(ROOT / "heterodoop", (".py", ".so")) + cache.tree(ROOT / "runtime", (".h", ".cuh", ".c"))
    return Bundles(KEEP / "made" / cache.key(state))


def wanted(options: argparse.Namespace, totals: Totals) -> tuple:  # type: ignore[type-arg]
    """Which seeds, and when it is enough."""
    if options.repeat is not None:
        return itertools.repeat(options.repeat, options.times), lambda: False
    return runner.seeds(options.seed), lambda: totals.struck >= options.faults


def take(told: Told, totals: Totals, kept, every: bool) -> None:  # type: ignore[no-untyped-def]
    totals.add(told)
    if told["problems"]:
        kept.write(json.dumps(told) + "\n")
        kept.flush()
        print(report.failure(told), file=sys.stderr, flush=True)
    elif every:
        print(json.dumps(told, indent=1), flush=True)
    if totals.cases % 200 == 0:
        said = f"{totals.struck} faults, {totals.cases} cases, problems: {dict(totals.problems)}"
        print(said, file=sys.stderr, flush=True)


def tell(totals: Totals, options: argparse.Namespace) -> None:
    text = report.markdown(totals, "python -m tests.soak " + " ".join(sys.argv[1:]))
    result = json.dumps(totals.to_json(), indent=1)
    (options.json or KEEP / "result.json").write_text(result + "\n")
    print(text)
    if options.page:
        report.replace_results(options.page, text)


def devices(name: str) -> tuple[str, ...]:
    """Of faults.DEVICES, by what the user calls them."""
    return {"cpu": ("cpu", "filters"), "emulated": ("cpu", "filters", "emulated", "worker"),
            "cuda": ("cpu", "filters", "cuda")}[name]


def families(only: str) -> dict[str, int]:
    names = only.split(",") if only else list(faults.FAMILIES)
    if unknown := set(names) - set(faults.FAMILIES):
        raise SystemExit(f"no such family: {', '.join(sorted(unknown))}; there are {', '.join(faults.FAMILIES)}")
    return {name: faults.FAMILIES[name] for name in names}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--faults", type=int, default=1000, help="go on until so many have struck")
    parser.add_argument("--seed", type=int, default=1, help="what all random choices begin with")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="cases at a time (default: cores)")
    parser.add_argument("--device", choices=["cpu", "emulated", "cuda"], default="emulated", help="cuda: real GPUs")
    parser.add_argument("--only", default="", metavar="FAMILY,...", help=f"of {', '.join(faults.FAMILIES)}")
    parser.add_argument("--repeat", type=int, metavar="SEED", help="the case of this seed alone, told in full")
    parser.add_argument("--times", type=int, default=1, help="with --repeat: so often; moments of the clock differ")
    parser.add_argument("--limit", type=float, default=runner.LIMIT_SECONDS, help="seconds after which a run hangs")
    parser.add_argument("--scratch", metavar="DIR", default="/tmp", help="where the lanes' folders are made")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures (default: build/soak/result.json)")
    parser.add_argument("--page", type=Path, help="a Markdown page whose results are replaced (docs/soak.md)")
    options = parser.parse_args()
    if options.repeat is not None:
        options.jobs = 1
    return options


if __name__ == "__main__":
    sys.exit(main())
