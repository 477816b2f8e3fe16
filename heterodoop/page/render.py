"""A page's HTML: templates/page filled with a job's data. It needs no network, and no name in it can end a tag."""

from __future__ import annotations

import html
import json

from .. import resources
from ..compiler.emit.render import render
from ..scheduler.price import Price
from . import content
from .attempts import Job

_FOLDER = "page"
MARK = '<meta name="generator" content="heterodoop report">'


def page(job: Job, rent: Price | None = None) -> str:
    """The whole file, UTF-8; with what the job cost, where a price is given.

    Its script finds its data in the element #data, and the drawing library in `echarts`.
    """
    folder = resources.find("templates") / _FOLDER
    text = {name: (folder / name).read_text("utf-8") for name in ("page.css", "page.js", "library/echarts.js")}
    return render(f"{_FOLDER}/report.html.j2", {
        "title": html.escape(job.name), "data": embedded(content.of(job, rent)), "style": text["page.css"],
        "mark": MARK, "script": text["page.js"], "library": text["library/echarts.js"],
    })


def embedded(data: object) -> str:
    """JSON that may stand in a script element: no < is in it, nor a line end that scripts know and JSON does not."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode()
