from collections.abc import AsyncIterator

import pytest

from fairlane.store.connection import Endpoint
from tests.lifecycle.harness import Harness
from tests.support.chat_server import ChatServer

CANARY = "sk-CANARY-7d1f0c"


@pytest.fixture
async def endpoint_server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ChatServer]:
    """An endpoint that the environment names, with its key and a model."""
    async with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.setenv("OPENAI_MODEL", "tiny")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield server


@pytest.fixture
async def pool(endpoint: Endpoint, name: str) -> AsyncIterator[Harness]:
    """A scheduler's roles. They are stopped and cleaned up after the test."""
    harness = Harness(endpoint, name)
    yield harness
    await harness.close()
