"""A worker that stops in good order says nothing about a lost lease."""

import logging
import threading

import pytest

from tests.lifecycle.harness import Gate, Harness


async def test_a_worker_sends_no_heartbeat_once_it_has_left(
    pool: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    await pool.put()
    for number in range(10):
        worker = await pool.worker(Gate(), f"w{number}", heartbeat_ms=10)
        evict, incarnation = worker.store.evict, worker.role.report().incarnation
        beating: list[str] = []

        async def leave(gone: str, evict=evict, beating=beating) -> object:  # type: ignore[no-untyped-def]
            answer = await evict(gone)
            beating += [thread.name for thread in threading.enumerate() if thread.name == f"heartbeat-{gone}"]
            return answer

        monkeypatch.setattr(worker.store, "evict", leave)
        assert f"heartbeat-{incarnation}" in {thread.name for thread in threading.enumerate()}
        await worker.stop()
        assert beating == []
    assert [record.message for record in caplog.records] == []
