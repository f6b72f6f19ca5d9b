"""Only the incarnations of a worker that ended are evicted from the store, whether they were seen or not."""

import asyncio
import random
from dataclasses import dataclass

from fairlane.config import PoolConfig
from fairlane.errors import StoreUnavailable
from fairlane.runtime.supervision import evict_incarnations
from fairlane.workers.members.status import WorkerStatus


@dataclass
class Ended:
    """Stands in for a member."""

    id: str = "worker-1"
    store_name: str = "worker-1@here"
    status: WorkerStatus = WorkerStatus.FAILED


async def living(store) -> set[str]:
    return {view.incarnation for view in await store.workers() if view.state == "live"}


async def test_an_unseen_incarnation_is_evicted_and_other_workers_keep_theirs(store):
    await store.put_pool(PoolConfig(slots=4))
    for name, incarnation in [("worker-1@here", "unseen"), ("worker-1@elsewhere", "theirs"), ("worker-2@here", "two")]:
        await store.register(name, incarnation, 4)
    await evict_incarnations(store, Ended(), None, random.Random(1))
    assert await living(store) == {"theirs", "two"}


async def test_the_seen_incarnation_is_evicted_and_its_successor_is_not(store):
    await store.put_pool(PoolConfig(slots=4))
    await store.register("worker-1@here", "successor", 4)
    await store.register("gone@here", "seen", 4)
    await evict_incarnations(store, Ended(status=WorkerStatus.STARTING), "seen", random.Random(1))
    assert await living(store) == {"successor"}


async def test_a_worker_that_starts_while_the_store_answers_is_not_evicted(store, monkeypatch):
    await store.put_pool(PoolConfig(slots=4))
    await store.register("worker-1@here", "successor", 4)
    member, workers = Ended(), store.workers

    async def read_late():
        member.status = WorkerStatus.STARTING
        return await workers()

    monkeypatch.setattr(store, "workers", read_late)
    await evict_incarnations(store, member, None, random.Random(1))
    assert {view.incarnation for view in await workers() if view.state == "live"} == {"successor"}


async def test_an_eviction_waits_for_an_unreachable_store(store, monkeypatch):
    await store.put_pool(PoolConfig(slots=4))
    await store.register("worker-1@here", "unseen", 4)
    workers, away = store.workers, [StoreUnavailable("away"), StoreUnavailable("away")]

    async def answer_in_the_end():
        if away:
            raise away.pop()
        return await workers()

    monkeypatch.setattr(store, "workers", answer_in_the_end)
    async with asyncio.timeout(30):
        await evict_incarnations(store, Ended(), None, random.Random(1))
    assert (await living(store), away) == (set(), [])
