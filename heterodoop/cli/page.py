"""`heterodoop report`: a page to look at."""

from __future__ import annotations

from typing import Any

import click


def of_a_page(command: Any) -> Any:
    """The options of what makes a page."""
    options = [
        click.option("-o", "--output", type=click.Path(), metavar="PAGE", help="The file to write (default: the job's)."),
        click.option("--svg", type=click.Path(), metavar="FILE", help="Write the slots over time as a picture, too."),
        click.option("--price", metavar="cpu=X,gpu=Y", help="Of a CPU slot and a GPU for an hour: says what it cost."),
        click.option("--open", "opens", is_flag=True, help="Show the page in a browser."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command("report")
@click.argument("report", type=click.Path(), metavar="OUT.report")
@of_a_page
def report_command(report: str, output: str | None, svg: str | None, price: str | None, opens: bool) -> None:
    """Make a page of a job's report: slots over time, what bounded it, counters, faults, settings.

    OUT.report is the folder that `heterodoop run -o OUT` wrote beside its result. The page is one HTML file that needs no
    network. A job of a cluster: `heterodoop job report ID`.
    """
    from ..commands import report as reports

    reports.of_folder(report, output, svg, price, opens=opens)
