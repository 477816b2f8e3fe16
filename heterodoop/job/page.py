"""docs/job-settings.md and the settings of docs/hadoop-plugin.md, from the table of settings."""

from __future__ import annotations

from collections.abc import Mapping

from .setting import Party, Refusal, Setting
from .settings import PREFIX, SETTINGS, heeded_by, refused_by

_NAMES = {Party.RUN: "`run`", Party.SUBMIT: "`submit`", Party.PLUGIN: "plug-in", Party.DRIVER: "driver"}
_HEAD = """# Job settings

`heterodoop run -D KEY=VALUE` and `heterodoop submit -D KEY=VALUE`, as in Hadoop. Names of Hadoop 1 (`mapred.reduce.tasks`)
are understood too. A command line option wins over `-D`, with a warning where they differ. A key that is in no table is
passed to the filters' environment: every character but letters and digits becomes `_`.

Four parties heed settings. `run` is the embedded engine. `submit` is a submitted job: the command, Hadoop Streaming and
Hadoop itself. The [plug-in](hadoop-plugin.md) decides in each map attempt under Hadoop, and the [driver](driver.md) runs
attempts on a node's GPUs. `run` checks what it heeds before anything runs (HD030). So does `submit`, and besides all that
begins with `heterodoop.`. Both warn where such a name is no setting (HD627).

"""
_RUN = """
## Refused by `run` (HD031)

They would change the result and are not supported. A value that asks for what is done anyway is taken. Hadoop does what
they ask for: on the CPU, where the plug-in refuses them (below).

| key | meaning | taken | why |
|---|---|---|---|
"""
_SUBMIT = """
## Refused by `submit` (HD623)

It sets them itself.

| key | meaning | where |
|---|---|---|
"""
_PLUGIN = """
## Left to the CPU by the plug-in

With another value the map attempts of a submitted job run the filter. `submit` warns of what it can see (HD626).

| key | taken | why | where it matters |
|---|---|---|---|
"""
_DRIVER = """
## Left to the CPU by the driver (HD615)

So is an attempt with a value that the driver heeds and that cannot be.

| key | taken | why | where it matters |
|---|---|---|---|
"""
PLUGIN_HEAD = "| setting | default | meaning |\n|---|---|---|\n"


def markdown() -> str:
    """docs/job-settings.md."""
    heeded = [row for row in SETTINGS.values() if not row.refused or Party.RUN in row.heeds]
    return "".join([
        _HEAD, "## Heeded\n\n| key | value | default | heeded by | meaning |\n|---|---|---|---|---|\n",
        *(f"| `{row.key}` | {_value(row)} | {_default(row)} | {_parties(row.heeds)} | {row.doc} |\n" for row in heeded),
        "\n## Defaults that differ\n\n| key | whose | default | why |\n|---|---|---|---|\n",
        *(f"| `{row.key}` | {_NAMES[party]} | {other.default} | {other.why} |\n"
          for row in SETTINGS.values() for party, other in row.others.items()),
        _RUN, *(f"| `{key}` | {SETTINGS[key].doc} | {_shown(refusal.allowed)} | {refusal.why} |\n"
                for key, refusal in refused_by(Party.RUN).items()),
        _SUBMIT, *(f"| `{key}` | {SETTINGS[key].doc} | {refusal.when or 'always'} |\n"
                   for key, refusal in refused_by(Party.SUBMIT).items()),
        _PLUGIN, *_refusals(refused_by(Party.PLUGIN)),
        _DRIVER, *_refusals(refused_by(Party.DRIVER)),
    ])


def plugin_rows() -> list[str]:
    """The table of docs/hadoop-plugin.md: what of ours the plug-in reads."""
    rows = [row for row in heeded_by(Party.PLUGIN).values() if row.key.startswith(PREFIX)]
    return [f"| `{row.key}` | {row.default_for(Party.PLUGIN) or '-'} | {row.doc} |\n" for row in rows]


def _refusals(refused: Mapping[str, Refusal]) -> list[str]:
    return [f"| `{key}` | {_shown(refusal.allowed)} | {refusal.why} | {refusal.when or 'always'} |\n"
            for key, refusal in refused.items()]


def _value(row: Setting) -> str:
    return f"{row.unit}, {row.kind.words}" if row.unit else row.kind.words


def _default(row: Setting) -> str:
    return ", ".join([row.default or "-", *(f"{_NAMES[party]}: {other.default}" for party, other in row.others.items())])


def _parties(heeds: Party) -> str:
    return ", ".join(name for party, name in _NAMES.items() if party in heeds)


def _shown(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" if value != "\t" else "a tab" for value in values) or "-"
