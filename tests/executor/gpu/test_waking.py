"""Waking a GPU early: a library of the test's stands in for the driver's and writes down what it is asked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.executor.gpu import waking
from heterodoop.executor.gpu.waking import Waking

SOURCE = """
#include <stdio.h>
static int say(const char *what, int number, int status)
{
    FILE *out = fopen(LOG, "a");
    fprintf(out, "%s %d\\n", what, number);
    fclose(out);
    return status;
}
int cuInit(unsigned flags) { return say("init", flags, INIT); }
int cuDeviceGet(int *device, int number) { *device = number + 100; return say("get", number, number > 1 ? 101 : 0); }
int cuDevicePrimaryCtxRetain(void **context, int device) { return say("retain", device, RETAIN); }
int cuDevicePrimaryCtxRelease_v2(int device) { return say("release", device, 0); }
"""
Asked = Callable[[], list[str]]


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Asked]:
    """Makes a driver whose calls return these statuses; gives what tells what it was asked."""

    def make(init: int = 0, retain: int = 0) -> Asked:
        log, source, library = (tmp_path / name for name in ("log", "driver.c", "libcuda.so"))
        log.touch()
        source.write_text(SOURCE)
        words = [f'-DLOG="{log}"', f"-DINIT={init}", f"-DRETAIN={retain}"]
        subprocess.run(["gcc", "-shared", "-fPIC", *words, str(source), "-o", str(library)], check=True)
        monkeypatch.setattr(waking, "LIBRARY", str(library))
        return lambda: log.read_text().splitlines()

    return make


def test_the_gpu_that_is_used_stays_awake(driver) -> None:
    asked = driver()
    woken = Waking(1)
    woken.start()
    woken.keep(1)
    assert asked() == ["init 0", "get 1", "retain 101"]


def test_another_one_is_let_go_once(driver) -> None:
    asked = driver()
    woken = Waking(0)
    woken.start()
    woken.keep(1)
    woken.keep(1)
    assert asked() == ["init 0", "get 0", "retain 100", "release 100"]


def test_where_nobody_knows_the_gpu_only_the_driver_wakes(driver) -> None:
    asked = driver()
    woken = Waking(None)
    woken.start()
    woken.keep(1)
    assert asked() == ["init 0"]


@pytest.mark.parametrize(("number", "statuses", "calls"), [
    (0, {"init": 100}, ["init 0"]), (7, {}, ["init 0", "get 7"]), (0, {"retain": 2}, ["init 0", "get 0", "retain 100"]),
])
def test_what_goes_wrong_is_left_to_pycuda(driver, number: int, statuses: dict[str, int], calls: list[str]) -> None:
    asked = driver(**statuses)
    woken = Waking(number)
    woken.start()
    woken.keep(1)
    assert asked() == calls


def test_without_a_driver_there_is_nothing_to_wake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "LIBRARY", "libcuda-of-nobody.so.1")
    woken = Waking(0)
    woken.start()
    woken.keep(1)
    assert not woken.is_alive()
