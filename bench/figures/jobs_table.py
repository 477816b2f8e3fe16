"""The tables of whole jobs: Fig. 4 and Table 2. Pure text of a state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import bars, paper
from .state import Record, State
from .steps import CPU_ONLY, EIGHT, FILTERS, GPU_FIRST, INGEST, INGEST_APP, TAIL, policy_of


def by_contender(rows: dict[str, Record]) -> dict[str, list[Record]]:
    """Contender -> its rounds that were measured."""
    found: dict[str, list[Record]] = {}
    for name, record in rows.items():
        if bars.measured(record) and not name.startswith(INGEST):
            found.setdefault(name.partition(" ")[0], []).append(record)
    return found


def best(rounds: Sequence[Record]) -> float:
    """Seconds of the best round, as the paper reports it."""
    return min(float(record["seconds"]) for record in rounds)


def spread(rounds: Sequence[Record]) -> str:
    """By how much the slowest round took longer than the best one."""
    slowest = max(float(record["seconds"]) for record in rounds)
    return f"{100 * (slowest / best(rounds) - 1):.0f} %" if len(rounds) > 1 else "one round"


def share(rounds: Sequence[Record]) -> float:
    """Percent of the best round's seconds in which map and combine are active: the job's map phase."""
    record = min(rounds, key=lambda r: float(r["seconds"]))
    return 100 * float(record["phases"].get("map", 0)) / float(record["seconds"])


@dataclass(frozen=True)
class Jobs:
    state: State
    apps: Sequence[str]

    def lines(self) -> Iterator[str]:
        found = {app: by_contender(self.state.records(app, "job")) for app in self.apps}
        found = {app: rounds for app, rounds in found.items() if rounds}
        yield "\n### Whole jobs on one node (Fig. 4)\n"
        rows = [row for app in found for row in self.state.records(app, "job").values()]
        cores = sorted({int(row["job_cores"]) for row in rows if "job_cores" in row})
        yield (
            f"On {' or '.join(map(str, cores)) or '?'} cores. Whole commands, from cold process to finished output; the best"
            " round, and by how much the slowest took longer."
            " As many reducers as cores, where the app has one; `cpu-only` runs host kernels, `filters` plain filters."
            f" The paper: at most {paper.FIG4_LARGEST:g} x, geometric mean {paper.FIG4_MEAN:g} x, on {paper.MACHINE}.\n")
        yield "| app | input, GiB (split, MiB) | contender | s | spread | against the CPU | map tasks | output |"
        yield "|---|---:|---|---:|---|---:|---|---|"
        for app, rounds in found.items():
            yield from self._app(app, rounds)
        yield ""
        yield from bars.whole_node(self._tail(found, CPU_ONLY), EIGHT)
        if by_filters := self._tail(found, FILTERS):
            yield f"Against filters alone, as in the paper: {bars.geometric_mean(list(by_filters.values())):.3g} x."
        yield from self._ingest()
        yield from self._failed()
        yield from self._table2(found)

    def _app(self, app: str, rounds: dict[str, list[Record]]) -> Iterator[str]:
        reference = rounds.get(CPU_ONLY)
        for contender, records in sorted(rounds.items(), key=lambda item: _order(item[0])):
            against = f"{best(reference) / best(records):.2f} x" if reference else "-"
            digests = {r["digest"] for r in [*records, *(reference or [])]}
            same = "-" if not reference else "equal" if len(digests) == 1 else "**differs**"
            tasks = ", ".join(f"{n} {'CPU' if where == 'cpu' else where}" for where, n in records[0]["map_tasks"].items())
            size = f"{records[0]['bytes'] / 2**30:.3g} ({records[0]['split'] / 2**20:.3g})"
            cells = [app, size, contender, f"{best(records):.2f}", spread(records), against, tasks, same]
            yield f"| {' | '.join(cells)} |"

    def _tail(self, found: dict[str, dict[str, list[Record]]], other: str) -> dict[str, float]:
        both = {app: rounds for app, rounds in found.items() if other in rounds and TAIL in rounds}
        return {app: best(rounds[other]) / best(rounds[TAIL]) for app, rounds in both.items()}

    def _ingest(self) -> Iterator[str]:
        tried = {name.removeprefix(INGEST): record for name, record in self.state.records(INGEST_APP, "job").items()
                 if name.startswith(INGEST) and bars.measured(record)}
        if tried:
            told = ", ".join(f"{n}: {record['seconds']:.2f} s" for n, record in tried.items())
            chosen = min(tried, key=lambda n: float(tried[n]["seconds"]))
            yield f"\nThreads that read for the GPU, tried on {INGEST_APP} with tail: {told}. The jobs have {chosen}."

    def _failed(self) -> Iterator[str]:
        for app in self.apps:
            for name, record in self.state.records(app, "job").items():
                if "failed" in record:
                    yield f"\n{app}, {name}: **failed**: {record['failed']}."
                for reason in record.get("left_to_cpu", ()):
                    yield f"\n{app}, {name}: tasks that the GPU left to the CPU: {reason}."

    def _table2(self, found: dict[str, dict[str, list[Record]]]) -> Iterator[str]:
        yield "\n### Share of map and combine (Table 2)\n"
        yield "Percent of the CPU-only command's time in which map tasks, their combiners included, run.\n"
        yield "| app | here | the paper |\n|---|---:|---:|"
        for app, rounds in found.items():
            if CPU_ONLY in rounds:
                says = f"{paper.TABLE2[app].map_combine}" if app in paper.TABLE2 else "-"
                yield f"| {app} | {share(rounds[CPU_ONLY]):.0f} | {says} |"


def _order(contender: str) -> tuple[int, int]:
    policy, gpus = policy_of(contender)
    return gpus, (FILTERS, CPU_ONLY, GPU_FIRST, TAIL).index(policy)
