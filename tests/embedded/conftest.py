"""Fixtures with real servers and processes. Each test stops only what it started, known by pid and start time."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from fairlane.embedded.processes import ProcessId, identify, is_alive, send_signal, wait_until
from fairlane.embedded.server import EmbeddedServer, ServerAddress


@pytest.fixture
def connect() -> Iterator[Callable[[ServerAddress], redis.Redis]]:
    """Opens clients by URL, as users do, and closes them afterwards."""
    clients: list[redis.Redis] = []

    def open_client(address: ServerAddress) -> redis.Redis:
        client = redis.Redis.from_url(address.url, decode_responses=True)
        clients.append(client)
        return client

    yield open_client
    for client in clients:
        client.close()


@pytest.fixture
def make_server() -> Iterator[Callable[..., EmbeddedServer]]:
    """Creates servers and stops them afterwards."""
    servers: list[EmbeddedServer] = []

    def make(*args: object, **options: object) -> EmbeddedServer:
        servers.append(EmbeddedServer(*args, **options))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The parent of all temporary directories during this test."""
    path = tmp_path / "t"
    path.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(path))
    return path


@pytest.fixture
def reaped() -> Iterator[Callable[[int], ProcessId]]:
    """Registers a running process, kills it after the test, and checks that it is dead."""
    processes: list[ProcessId] = []

    def note(pid: int) -> ProcessId:
        process = identify(pid)
        assert process is not None, f"process {pid} is not running"
        processes.append(process)
        return process

    yield note
    for process in processes:
        send_signal(process, signal.SIGKILL)
    assert wait_until(lambda: not any(map(is_alive, processes)), 10.0)
