"""Which GPUs a driver starts on, how a job's settings become a device's, and which bundles have nothing for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heterodoop.driver.job import gpus
from heterodoop.driver.job.gpus import Codes, DeviceWish, Gpus
from heterodoop.errors import DeviceError, ToolError, UsageError
from heterodoop.executor.gpu.gpus import Gpu, OpenedGpu, Survey
from heterodoop.executor.kernel.native_device import DeviceOptions
from heterodoop.executor.worker.client import Worker
from heterodoop.job.jobconf import JobConf
from heterodoop.job.setting import Party
from heterodoop.manifest import load
from heterodoop.scheduler.node.model import Session

from ...support import Bundles


class FakeWorker(Worker):
    """A worker whose process is a table: what the CUDA driver names, and which GPUs cannot be opened."""

    survey_ = Survey((13, 0), (Gpu(0, "A", "sm_90", 80 << 30), Gpu(1, "B", "sm_80", 40 << 30)))
    broken: tuple[int, ...] = ()
    made: list[FakeWorker] = []

    def start(self) -> None:
        self.number = -1
        self.made.append(self)

    def survey(self, check: Any = None) -> Survey:
        return self.survey_

    def open(self, number: int) -> None:
        self.number = number

    def opened(self, check: Any = None) -> OpenedGpu:
        if self.number in self.broken:
            raise DeviceError(f"GPU {self.number} is left out", code="HD413")
        return OpenedGpu(70 << 30, 80 << 30)


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[FakeWorker]:
    monkeypatch.setenv("HETERODOOP_GPU_SHARES", str(tmp_path / "shares"))
    monkeypatch.setattr(gpus, "Worker", FakeWorker)
    monkeypatch.setattr(gpus.gpus, "present", lambda: True)
    monkeypatch.setattr(gpus.cuda, "device_library", lambda archs: (Path("lib"), {arch: Path(arch) for arch in archs}))
    for name, value in (("made", []), ("broken", ()), ("survey_", FakeWorker.survey_)):
        monkeypatch.setattr(FakeWorker, name, value)
    return FakeWorker


def test_each_gpu_has_a_worker_with_the_kernels_of_its_kind(fakes: type[FakeWorker]) -> None:
    started = Gpus(DeviceWish("cuda"))
    started.start()
    assert [worker.number for worker in fakes.made] == [0, 1] and started.count == 2
    assert [worker._setup and worker._setup().runtime for worker in fakes.made] == [Path("sm_90"), Path("sm_80")]
    assert [row["name"] for row in started.status()] == ["A", "B"]
    started.close()


def test_gpus_by_number_and_one_that_is_broken(fakes: type[FakeWorker]) -> None:
    fakes.broken = (1,)
    chosen = Gpus(DeviceWish("cuda", "1,0"))
    chosen.start()
    assert [worker.number for worker in fakes.made] == [1, 0]
    chosen.close()
    with pytest.raises(DeviceError, match="GPU 1 is left out"):
        Gpus(DeviceWish("cuda", "1")).start()
    with pytest.raises(UsageError, match="names number 0 to 1"):
        Gpus(DeviceWish("cuda", "2")).start()


@pytest.mark.parametrize(("survey", "what"), [
    (Survey((13, 0), ()), "names no GPU"), (Survey((11, 4), (Gpu(0, "A", "sm_90", 1),)), "11.4"),
])
def test_no_gpu_to_start_on(fakes: type[FakeWorker], survey: Survey, what: str) -> None:
    fakes.survey_ = survey
    with pytest.raises(ToolError, match=what) as caught:
        Gpus(DeviceWish("cuda")).start()
    assert caught.value.code == "HD614"


def said(settings: dict[str, str]) -> JobConf:
    return JobConf(settings, party=Party.DRIVER)


def test_settings_of_a_job() -> None:
    plain = Gpus(DeviceWish("emulated"))
    wish = {"heterodoop.gpu.sub-split.bytes": "4096", "heterodoop.emulated.order": "reverse", "other": "x"}
    found = plain.options(said(wish))
    assert (found.sub_split, found.order, found.arena) == (4096, "reverse", 0)
    assert plain.options().sub_split == 0
    for key, value in (("heterodoop.gpu.arena.bytes", "-1"), ("heterodoop.gpu.ingest.threads", "many")):
        with pytest.raises(ValueError):
            plain.options(said({key: value}))


def test_a_limit_of_gpu_memory_makes_launches_smaller() -> None:
    """Two sessions share it; a byte of input takes 32 of memory at most."""
    limited = Gpus(DeviceWish("cuda", sessions=2, memory=8 << 30))
    assert limited.options().sub_split == (8 << 30) // 2 // 32
    assert limited.options(said({"heterodoop.gpu.sub-split.bytes": "5"})).sub_split == 5
    assert Gpus(DeviceWish("cuda", memory=1)).options().sub_split == 1 << 20


def test_drivers_share_a_gpu_s_memory_and_none_takes_more(fakes: type[FakeWorker]) -> None:
    """A share is of each GPU; what is left of the smallest limits a task, and a hang may take as long as turns make it."""
    half = Gpus(DeviceWish("cuda", sessions=2, share=50))
    half.start()
    assert half.options().limit == ((40 << 30) // 2 - (1 << 30)) // 2
    other = Gpus(DeviceWish("cuda", "1"))
    other.start()  # what is left
    assert [row["share"] for row in (*half.status(), *other.status())] == [50, 50, 50]
    patience = [half.session(Session(device, 0), half.options(), 1)[0].hang_seconds for device in (0, 1)]
    assert patience == [30, 60]
    refused = r"^10 % of the memory of GPU 1 \(B\) cannot be had: 50 % by .*, 50 % by "
    with pytest.raises(UsageError, match=refused) as caught:
        Gpus(DeviceWish("cuda", share=10)).start()
    assert caught.value.code == "HD669"
    half.close()
    other.close()
    alone = Gpus(DeviceWish("cuda"))
    alone.start()
    assert alone.options().limit == 0 and alone.lent(DeviceOptions(limit=5)).limit == 0
    alone.close()


def test_bundles_that_no_gpu_can_run(bundles: Bundles, wordcount: Path) -> None:
    none = bundles.get("int main(void) { return 0; }\n")
    assert "no kernel" in Codes("cuda", none, load(none)).never
    found = Codes("cuda", wordcount, load(wordcount))
    assert found.never == ""
    with pytest.raises(DeviceError, match="no kernels for sm_90") as caught:  # compiled with --arch none
        found.get("sm_90")
    assert caught.value.code == "HD615"


def test_a_kernel_that_cannot_be_compiled_leaves_its_tasks_to_the_cpu(
    wordcount: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiler, runs = tmp_path / "my-g++", tmp_path / "runs"
    compiler.write_text(f"#!/bin/sh\necho run >> {runs}\necho 'map.c:3:4: error: no' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("HETERODOOP_STRICT", "0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = Codes("emulated", wordcount, load(wordcount))
    for _ in range(2):
        with pytest.raises(DeviceError, match=r"cuda/map.cu cannot be compiled \(please report this.*map.c:3:4: error: no"):
            found.get("")
    assert runs.read_text().count("run") == 1, "asked once"
