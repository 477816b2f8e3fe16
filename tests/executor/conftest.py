"""A worker process that answers what a test says, for the tests of both sides of its channel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .worker.test_workers import ScriptedWorker


@pytest.fixture
def scripted() -> Iterator[ScriptedWorker]:
    from .worker.test_workers import ScriptedWorker  # test modules are imported as pytest collects them

    worker = ScriptedWorker()
    yield worker
    worker.session_.channel.close()
    worker.theirs.close()
