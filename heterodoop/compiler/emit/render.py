"""Fills the Jinja2 skeletons of templates/ with plain data. The only importer of jinja2.

A name that a skeleton uses and the data lacks is a bug of ours, and so raises CompilerBug.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ... import resources
from ...errors import CompilerBug

if TYPE_CHECKING:
    import jinja2


@cache
def _environment() -> jinja2.Environment:
    import jinja2  # while a C compiler links: prologues are begun before texts are made

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.find("templates")), undefined=jinja2.StrictUndefined, autoescape=False,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )


def render(template: str, data: Mapping[str, Any]) -> str:
    """The text of a skeleton, for example "kernel.cu.j2", with `data` filled in."""
    import jinja2

    try:
        return _environment().get_template(template).render(data)
    except jinja2.TemplateError as error:
        raise CompilerBug(f"template {template}: {error}") from error
