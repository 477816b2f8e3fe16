"""What the tests of the device's core share: its modules for the emulated device, and the orders in which lanes run."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop import resources

from .core_module import ORDERS, Module, Order


@pytest.fixture(scope="module")
def core() -> Module:
    return Module(Path(__file__).parent / "device_core.cu")


@pytest.fixture(scope="module")
def kernels() -> Module:
    return Module(Path(resources.find("runtime", "device", "steps", "kernels.cu")))


@pytest.fixture(params=ORDERS, ids=str)
def order(request: pytest.FixtureRequest) -> Order:
    return request.param  # type: ignore[no-any-return]
