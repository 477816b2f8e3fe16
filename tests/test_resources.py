"""Where data files and the native library lie, and what is said where they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop import resources
from heterodoop.errors import ToolError


def test_the_runtime_is_found() -> None:
    assert (resources.find("runtime", "host") / "task" / "api.h").is_file()
    assert resources.find("runtime", "host", "task", "api.h").is_file()


def test_a_missing_data_file_names_itself_and_the_cure() -> None:
    with pytest.raises(ToolError, match="templates/no/such is missing") as caught:
        resources.find("templates", "no", "such")
    assert caught.value.code == "HD501" and "pip install" in caught.value.help


def test_another_native_library_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.so").touch()
    monkeypatch.setenv("HETERODOOP_NATIVE", str(tmp_path / "other.so"))
    assert resources.native_library() == tmp_path / "other.so"


def test_a_missing_native_library_names_the_command_that_builds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HETERODOOP_NATIVE", raising=False)
    monkeypatch.setattr(resources, "NATIVE_LIBRARY", tmp_path / "libhd_host.so")
    with pytest.raises(ToolError) as caught:
        resources.native_library()
    assert caught.value.code == "HD511" and resources.BUILD_NATIVE in caught.value.help
