"""Which GPUs a job uses, of those that the driver names."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.errors import UsageError
from heterodoop.executor.gpu import gpus
from heterodoop.executor.gpu.gpus import Gpu, OpenedGpu, Survey

TWO = Survey((12, 4), (Gpu(0, "A", "sm_90", 80 << 30), Gpu(1, "B", "sm_80", 40 << 30)))


@pytest.mark.parametrize(("text", "numbers"), [
    ("all", None), (" ALL ", None), ("none", ()), ("0", (0,)), ("1,0", (1, 0)), (" 0 , 1", (0, 1)), ("12", (12,)),
])
def test_what_gpus_takes(text: str, numbers: tuple[int, ...] | None) -> None:
    assert gpus.parse(text) == numbers


@pytest.mark.parametrize("text", ["", "0,", "-1", "0-1", "GPU-12", "one", "0 1", "1,1", "\u0661"])
def test_what_gpus_does_not_take(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        gpus.parse(text)
    assert caught.value.code == "HD037"


def test_the_choice_has_the_users_order() -> None:
    assert gpus.choose(TWO, None) == [TWO.gpus[0], TWO.gpus[1]]
    assert gpus.choose(TWO, (1, 0)) == [TWO.gpus[1], TWO.gpus[0]]
    assert gpus.choose(TWO, ()) == []


@pytest.mark.parametrize(("survey", "environ", "why"), [
    (TWO, {}, "--gpus 2: the CUDA driver names number 0 to 1"),
    (TWO, {"CUDA_VISIBLE_DEVICES": "3,1"}, "names number 0 to 1 with CUDA_VISIBLE_DEVICES='3,1'"),
    (Survey((12, 4), TWO.gpus[:1]), {}, "names number 0 alone"),
    (Survey((12, 4), ()), {"CUDA_VISIBLE_DEVICES": ""}, "names no GPU with CUDA_VISIBLE_DEVICES=''"),
])
def test_a_number_that_is_not_there(survey: Survey, environ: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError) as caught:
        gpus.choose(survey, (2,), environ)
    assert why in caught.value.message and caught.value.code == "HD037"


def test_a_driver_that_is_too_old() -> None:
    assert gpus.old_driver(TWO) == ""
    assert gpus.old_driver(Survey((11, 8), TWO.gpus)) == "the driver is of CUDA 11.8, 12.0 or newer is needed"


def test_memory_that_others_have_taken() -> None:
    assert gpus.too_full(OpenedGpu(256 << 20, 80 << 30)) == ""
    assert gpus.too_full(OpenedGpu(255 << 20, 1 << 30)) == "255 of 1024 MiB of its memory are free, 256 are needed"


def test_whether_there_can_be_a_gpu_is_a_look_at_two_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gpus, "NODES", (str(tmp_path / "nvidiactl"), str(tmp_path / "dxg")))
    assert not gpus.present()
    (tmp_path / "dxg").touch()
    assert gpus.present()
