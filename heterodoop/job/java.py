"""The plug-in's Settings.java: the names, defaults and taken values of what it reads, from the table of settings."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from .kinds import CLASS, Java
from .setting import Party, Setting
from .settings import PREFIX, SETTINGS, TOLD

_HEAD = """package org.heterodoop.mr;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Job settings that the plug-in reads: names, defaults (_DEFAULT), and what leaves an attempt to a GPU (_TAKEN).
 *
 * <p>Written by `make docs` from heterodoop/job/settings.py: change it there.
 */
final class Settings {
"""
_TAIL = """
  /** Everything that starts so is told to the driver. */
  static final String PREFIX = %s;

  /** What else the driver is told of the job, under its present name. */
  static final List<String> TOLD = Collections.unmodifiableList(Arrays.asList(
      %s));

  private Settings() {
  }
}
"""


def source() -> str:
    """The text of the file."""
    rows = [row for row in (*SETTINGS.values(), *TOLD) if row.java]
    told = ",\n      ".join(row.java for row in rows if row.told)
    return _HEAD + "\n".join(map(_constants, rows)) + _TAIL % (_text(PREFIX), told)


def _constants(row: Setting) -> str:
    return _comment(row.doc) + "".join(f"  static final {text};\n" for text in _definitions(row))


def _definitions(row: Setting) -> Iterator[str]:
    kind = row.kind.java
    yield f"String {row.java} = {_text(row.key)}"
    default = row.default_for(Party.PLUGIN)
    if default and Party.PLUGIN in row.heeds and (kind != "String" or row.kind is CLASS):
        yield f"{kind} {row.java}_DEFAULT = {_value(kind, default)}"
    refusal = row.refused.get(Party.PLUGIN)
    if refusal and refusal.allowed and kind == "String":
        values = ", ".join(map(_text, refusal.allowed))
        yield f"List<String> {row.java}_TAKEN = Collections.unmodifiableList(Arrays.asList(\n      {values}))"
    elif refusal and refusal.allowed:
        yield f"{kind} {row.java}_TAKEN = {_value(kind, refusal.allowed[0])}"


def _value(kind: Java, text: str) -> str:
    if kind == "String":
        return _text(text)
    return f"{text}L" if kind == "long" else text


def _text(text: str) -> str:
    return json.dumps(text)  # ASCII and escapes that Java has too


def _comment(doc: str) -> str:
    one = f"  /** {doc} */\n"
    if len(one) <= 121:
        return one
    lines = textwrap.wrap(doc, 112, break_on_hyphens=False)
    return "  /**\n" + "".join(f"   * {line}\n" for line in lines) + "   */\n"
