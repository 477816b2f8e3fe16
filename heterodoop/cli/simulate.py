"""`heterodoop simulate`: how long a job of map tasks takes under a policy."""

from __future__ import annotations

from typing import Any

import click


@click.command("simulate")
@click.option("--nodes", type=int, default=1, show_default=True, metavar="N", help="Nodes of the cluster.")
@click.option("--gpus", type=int, default=1, show_default=True, metavar="N", help="GPUs of a node.")
@click.option("--cpu-slots", type=int, default=2, show_default=True, metavar="N", help="CPU slots of a node.")
@click.option("--tasks", type=int, default=19, show_default=True, metavar="N", help="Map tasks of the job.")
@click.option(
    "--speedup", type=float, default=6.0, show_default=True, metavar="S",
    help="Seconds of a task on a CPU slot, by those on a GPU.",
)
@click.option("--gpu-seconds", type=float, default=1.0, show_default=True, metavar="SECONDS", help="Of a task on a GPU.")
@click.option("--policy", metavar="NAME", help="tail, gpu-first, gpu-only, cpu-only, paper-tail; default: all, to compare.")
@click.option(
    "--heartbeat", type=float, metavar="SECONDS",
    help="A node gets tasks once in so many seconds only (default: at once; with --jobtracker-cap a tenth of a GPU task).",
)
@click.option(
    "--jobtracker-cap", is_flag=True,
    help="The paper's JobTracker half: in the job's tail a node gets as many tasks a heartbeat as it has GPUs.",
)
@click.option("--jitter", type=float, default=0.0, metavar="X", help="A task takes up to this share less or more, as 0.2.")
@click.option("--seed", type=int, default=1, show_default=True, metavar="N", help="Of the jitter.")
@click.option("--learn", is_flag=True, help="Nodes measure the speedup first; else they know it.")
@click.option(
    "--other-job", "other_jobs", type=int, multiple=True, metavar="N",
    help="Another job, of N map tasks, begins at the same time; may be given several times.",
)
@click.option(
    "--gpu-down", nargs=2, type=float, metavar="FROM UNTIL",
    help="From and until which second the first GPU of the first node is out of service.",
)
@click.option(
    "--compare", is_flag=True,
    help="tail against gpu-first for speedups from 3 to 47 on both clusters of the HeteroDoop paper (its Table 3).",
)
@click.option(
    "--price", metavar="cpu=X,gpu=Y", help="What a CPU slot and a GPU cost for an hour: says what the job costs, too.",
)
@click.option("--plot", type=click.Path(), metavar="FILE", help="Draw what ran when on which slot, as SVG (.svg).")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def simulate_command(**options: Any) -> None:
    """Say how long a job of map tasks would take, and what the policies of scheduling do to it.

    Virtual time through the code that decides in a driver (docs/scheduling.md). The default is the example of the HeteroDoop
    paper's figure 3.
    """
    from ..commands import simulate

    simulate.simulate(**options)
