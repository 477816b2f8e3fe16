"""A row of the table of settings, and the four parties that may heed one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Flag, auto
from typing import NamedTuple

from .kinds import Kind


class Party(Flag):
    """Who reads a job's settings.

    RUN     `heterodoop run`, the embedded engine.
    SUBMIT  a submitted job: `heterodoop submit` itself, streaming's command, and Hadoop.
    PLUGIN  the plug-in, in each map attempt under Hadoop.
    DRIVER  the node's driver, for attempts of Hadoop.
    """

    RUN = auto()
    SUBMIT = auto()
    PLUGIN = auto()
    DRIVER = auto()


class Refusal(NamedTuple):
    """Why a party does not do what a setting asks for.

    allowed  values that ask for what it does anyway, and are taken.
    when     what else must be so; "" = nothing.
    """

    allowed: tuple[str, ...]
    why: str
    when: str = ""


class Other(NamedTuple):
    """A default that is another one for one party, and why it has to be."""

    default: str
    why: str


class Setting(NamedTuple):
    """key: its present name in Hadoop.

    kind     what its value may be.
    doc      what it says, for docs/job-settings.md.
    heeds    who does what it asks for; Party(0): nobody, it is refused.
    default  as text; "" = none, or decided per job, as `doc` says.
    unit     of a number, "" where it counts.
    refused  who does not, and why. `run` refuses the job (HD031), `submit` too (HD623); the plug-in leaves the attempt to
             the filter, and so does the driver (HD615).
    others   defaults that differ.
    java     its constant in the plug-in's Settings.java; "" where the plug-in does not read it by name.
    told     the plug-in tells it to the driver by its name, as it does with all of ours (`heterodoop.`).
    """

    key: str
    kind: Kind
    doc: str
    heeds: Party
    default: str = ""
    unit: str = ""
    refused: Mapping[Party, Refusal] = {}
    others: Mapping[Party, Other] = {}
    java: str = ""
    told: bool = False

    def default_for(self, party: Party) -> str:
        return self.others[party].default if party in self.others else self.default
