"""What a job that ended well promises is on the disk: files and the folders that name them, output and report."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from heterodoop.engine.job.layout import sync, sync_tree
from heterodoop.engine.run import job_report

from ..conftest import CAT
from .test_failures import put

NOISY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
int main(void) {
  char line[100], name[4096]; FILE *side;
  snprintf(name, sizeof name, "%s/side", getenv("mapreduce_task_output_dir")); mkdir(name, 0777);
  strcat(name, "/file"); side = fopen(name, "w"); fputs("beside\n", side); fclose(side);
  while (fgets(line, sizeof line, stdin)) { fputs(line, stdout); fputs("said\n", stderr); }
  return 0;
}
"""


class Disk:
    """Sizes of what was synced, by (device, inode), and how many entries a folder had then."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._real, self.known = os.fsync, dict[tuple[int, int], set[str] | int]()
        patch.setattr(os, "fsync", self._fsync)

    def _fsync(self, file: int) -> None:
        self._real(file)
        info, path = os.fstat(file), f"/proc/self/fd/{file}"
        self.known[info.st_dev, info.st_ino] = set(os.listdir(path)) if os.path.isdir(path) else info.st_size

    def holds(self, path: Path) -> bool:
        info = path.stat()
        found = self.known.get((info.st_dev, info.st_ino))
        return found is not None and (found >= set(os.listdir(path)) if isinstance(found, set) else found == info.st_size)


def test_all_that_a_job_leaves(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = put(tmp_path / "in", b"a\nb\n" * 1000)
    app, disk = bundle(NOISY), Disk(monkeypatch)
    run(app, source, out="new/folder/out")
    made = tmp_path / "new/folder"
    files = [p for p in made.rglob("*") if p.is_file()]
    assert {p.name for p in files} >= {"part-00000", "_SUCCESS", "file", "report.json", "attempts.jsonl"}
    assert any("logs" in p.parts for p in files)
    for path in (made, made.parent, *made.rglob("*")):
        if path.stat().st_size:
            assert disk.holds(path), path
    assert disk.known[tmp_path.stat().st_dev, tmp_path.stat().st_ino]


def test_a_report_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "out.report"
    job_report.claim(folder, {"state": "running"})
    disk, real = Disk(monkeypatch), Path.replace

    def replace(self: Path, target: Path) -> Path:
        assert disk.holds(self)
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    job_report.conclude(folder, {"state": "succeeded"})
    assert json.loads((folder / "report.json").read_text()) == {"state": "succeeded"} and disk.holds(folder)


def test_a_disk_that_refuses_the_report_is_a_warning(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    monkeypatch.setattr(job_report, "sync", refuse)
    result = run(bundle(CAT), put(tmp_path / "in", b"a\n"))
    assert [w.code for w in result.warnings] == ["HD036"] and (tmp_path / "out/_SUCCESS").exists()


def test_links_and_pipes_are_passed_over(tmp_path: Path):
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    sync_tree(tmp_path)
    sync(tmp_path / "absent")
