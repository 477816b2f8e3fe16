"""How many slots a job has, of which kind, and which policy: from options, settings and devices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from heterodoop.engine.devices import job_slots
from heterodoop.engine.devices.job_slots import Slots, kept_for_ingest, plan_slots
from heterodoop.errors import UsageError
from heterodoop.job import jobconf
from heterodoop.scheduler.model import Slot


@pytest.fixture
def processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_slots.os, "sched_getaffinity", lambda pid: set(range(16)))


def offload(gpus: int, sessions: int) -> Any:
    """What plan_slots reads of a DevicePlan: `gpus` workers, `sessions` of all together."""
    return SimpleNamespace(gpus=tuple(range(gpus)), sessions=gpus * sessions)


def conf(*settings: str) -> jobconf.JobConf:
    return jobconf.parse(settings, {})


def counts(slots: Slots) -> tuple[str, int, int, int, int]:
    """The policy; CPU slots that are not spare; GPU slots, those that open late, GPUs."""
    return slots.policy.name, slots.cpu - len(slots.spare), len(slots.every) - slots.cpu, len(slots.late), slots.gpus


def test_a_job_on_the_cpu_has_a_slot_for_each_processor(processors) -> None:
    assert counts(plan_slots("auto", "tail", None, None, conf())) == ("cpu-only", 16, 0, 0, 0)
    assert counts(plan_slots("cpu", None, "3", None, conf())) == ("cpu-only", 3, 0, 0, 0)


def test_a_gpu_has_a_slot_per_session_and_reading_for_it_costs_cpu_slots(processors) -> None:
    slots = plan_slots("auto", None, None, offload(1, 2), conf())
    assert counts(slots) == ("tail", 12, 2, 2, 1)
    assert slots.every[16:] == slots.late == (Slot(16, "gpu"), Slot(17, "gpu"))
    assert slots.every[12:16] == slots.spare and {slot.kind for slot in slots.spare} == {"cpu"}, "a slot per processor"
    assert counts(plan_slots("cuda", "gpu-first", None, offload(4, 2), conf())) == ("gpu-first", 8, 8, 8, 4)
    settings = conf("heterodoop.gpu.ingest.threads=6")
    assert counts(plan_slots("cuda", None, None, offload(1, 2), settings)) == ("tail", 10, 2, 2, 1)
    assert counts(plan_slots("cuda", None, None, offload(2, 2), settings))[1] == 4
    assert counts(plan_slots("cuda", None, None, offload(8, 2), settings))[1] == 1, "one is always a slot"
    assert counts(plan_slots("cuda", None, 16, offload(1, 2), settings))[1] == 16, "as the user says"
    assert plan_slots("cuda", None, 16, offload(1, 2), settings).spare == ()


def test_there_is_always_a_cpu_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_slots.os, "sched_getaffinity", lambda pid: {0})
    assert kept_for_ingest(conf(), 1) == 0
    assert counts(plan_slots("auto", None, None, offload(1, 1), conf()))[1:3] == (1, 1)


def test_where_only_gpus_take_map_tasks_their_slots_do_not_wait_to_open(processors) -> None:
    assert counts(plan_slots("cuda", "gpu-only", None, offload(1, 2), conf())) == ("gpu-only", 12, 2, 0, 1)
    assert counts(plan_slots("emulated", None, 5, offload(0, 0), conf())) == ("gpu-only", 5, 5, 0, 5)


def test_a_policy_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="must be one of cpu-only"):
        job_slots.check_policy("best", "cuda")
    job_slots.check_policy(None, "cpu")
