"""A fake cluster for tests of what asks one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .fake_yarn import FakeYarn


@pytest.fixture
def yarn() -> Iterator[FakeYarn]:
    with FakeYarn() as fake:
        yield fake
