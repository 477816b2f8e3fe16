"""What the last command found of GPUs: kept for the same machine, start and environment, and what is damaged is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.executor.gpu import kept_survey
from heterodoop.executor.gpu.gpus import Gpu, Survey

FOUND = Survey((13, 0), (Gpu(0, "An H200, é", "sm_90", 150 << 30, "GPU-1"), Gpu(1, "B", "sm_80", 1, "")))


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, value in (("BOOT", tmp_path / "boot"), ("DEVICES", tmp_path / "dev")):
        monkeypatch.setattr(kept_survey, name, value)
    (tmp_path / "boot").write_text("one\n")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "nvidia0").touch()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


def test_it_is_kept_and_forgotten() -> None:
    assert kept_survey.recall() is None
    kept_survey.remember(FOUND)
    assert kept_survey.recall() == FOUND
    kept_survey.remember(Survey((12, 4), ()))
    assert kept_survey.recall() == Survey((12, 4), ())
    kept_survey.forget()
    assert kept_survey.recall() is None
    kept_survey.forget()


def test_another_start_device_or_environment_is_another_machine(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_survey.remember(FOUND)
    with monkeypatch.context() as other:
        other.setenv("CUDA_VISIBLE_DEVICES", "1")
        assert kept_survey.recall() is None
    (own / "dev" / "nvidia1").touch()
    assert kept_survey.recall() is None
    (own / "dev" / "nvidia1").unlink()
    assert kept_survey.recall() == FOUND
    (own / "boot").write_text("two\n")
    assert kept_survey.recall() is None


@pytest.mark.parametrize("text", [
    "", "[]", "{}", '{"driver": [13, 0], "gpus": [{"number": 0}]}', '{"driver": [13], "gpus": []}', "[" * 100_000,
    '{"driver": [13, 0], "gpus": [{"number": -1, "name": "A", "arch": "sm_90", "memory": 1, "uuid": ""}]}',
    '{"driver": [13, 0], "gpus": [{"number": 0, "name": 5, "arch": "sm_90", "memory": 1, "uuid": ""}]}',
])
def test_what_is_damaged_counts_as_nothing(text: str) -> None:
    kept_survey.remember(FOUND)
    kept_survey._file().write_text(text)
    assert kept_survey.recall() is None


def test_where_nothing_can_be_kept_nothing_is(own: Path) -> None:
    (own / "boot").unlink()
    kept_survey.remember(FOUND)
    assert kept_survey.recall() is None
