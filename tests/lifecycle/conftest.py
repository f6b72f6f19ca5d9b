from collections.abc import AsyncIterator

import pytest

from fairlane.store.connection import Endpoint
from tests.lifecycle.harness import Harness


@pytest.fixture
async def pool(endpoint: Endpoint, name: str) -> AsyncIterator[Harness]:
    """A scheduler's roles; they are stopped and their keys deleted after the test."""
    harness = Harness(endpoint, name)
    yield harness
    await harness.close()
