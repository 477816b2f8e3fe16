"""Whole map attempts through a driver, against what the CPU filters make of the same split, byte for byte."""

from __future__ import annotations

from pathlib import Path

from .client import INSTALLED, Attempt
from .conftest import SAMPLE, OnCpu
from .running import Driver, wait_for


def test_a_map_task_equals_the_cpus(driver: Driver, attempt: Attempt, sample: Path, on_cpu: OnCpu) -> None:
    with driver.client() as client:
        outcome = client.map(attempt)
        client.send(INSTALLED)
    cpu, index, data = on_cpu(attempt, sample)
    assert (outcome.kind, outcome.index, outcome.data) == ("result", index, data)
    names = ("MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "MAP_OUTPUT_MATERIALIZED_BYTES")
    assert {n: outcome.pairs("counter")[n] for n in names} == {n: str(cpu.counters[n]) for n in names}
    assert outcome.text("read") == "driver" and int(outcome.text("read_bytes")) == len(SAMPLE)
    assert "emulated" in outcome.text("gpu") and float(outcome.pairs("seconds")["gpu"]) > 0
    assert wait_for(lambda: driver.events("installed"))
