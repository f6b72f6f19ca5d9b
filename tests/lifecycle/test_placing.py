"""Which workers get tasks under each strategy, with real placements by the store."""

import asyncio
from collections import Counter
from itertools import pairwise
from operator import eq

import pytest

from fairlane.config import DispatcherConfig, PoolConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.strategy_name import StrategyName
from fairlane.domain.task import TaskState
from fairlane.lifecycle.client import Client
from fairlane.lifecycle.dispatcher import Dispatcher
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.providers.base import Call, Reply
from fairlane.providers.simulated import SimulatedProvider
from fairlane.run import Signals
from fairlane.store.keys import DISPATCHER_BELL
from fairlane.store.messages import Settlement
from fairlane.workers import WorkerError, WorkerErrorCode
from fairlane.workers.strategies.stride import StrideScheduler
from tests.lifecycle.harness import Gate, Harness, until

STRATEGIES = list(StrategyName)
own_strategy = StrideScheduler


class Named:
    """A provider that records its worker's name at each call."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self._name = name
        self._calls = calls
        self._provider = SimulatedProvider()

    async def call(self, call: Call) -> Reply:
        self._calls.append(self._name)
        return await self._provider.call(call)


async def client_and_calls(pool: Harness, strategy: str, **slots: int) -> tuple[Client, list[str]]:
    """Start workers with these slots; return a client, and the list of the workers called."""
    calls: list[str] = []
    await pool.put()
    for name, count in slots.items():
        await pool.worker(Named(name, calls), name, slots=count)
    await pool.dispatcher(strategy=strategy)
    return await pool.client(), calls


async def one_after_the_other(client: Client, tasks: int) -> None:
    for n in range(tasks):
        handle = await client.submit("acme", {"echo": n}, cost=1)
        assert await handle.result(20) == n


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_tasks_beyond_all_slots_end_and_leave_nothing(pool: Harness, strategy: str) -> None:
    client, calls = await client_and_calls(pool, strategy, small=2, large=6)
    handles = [await client.submit("acme", {"echo": n}, cost=1) for n in range(100)]
    assert await client.wait_many(handles, 30) == list(range(100))
    assert Counter(calls).keys() == {"small", "large"}
    await pool.assert_nothing_held()


@pytest.mark.parametrize("strategy", [StrategyName.ROUND_ROBIN, StrategyName.LEAST_BUSY, StrategyName.LEAST_BUSY_EWMA])
async def test_single_tasks_take_turns(pool: Harness, strategy: str) -> None:
    client, calls = await client_and_calls(pool, strategy, w1=16, w2=16)
    await one_after_the_other(client, 20)
    assert not any(eq(*pair) for pair in pairwise(calls))


async def test_single_tasks_follow_the_slots_under_weighted(pool: Harness) -> None:
    client, calls = await client_and_calls(pool, StrategyName.WEIGHTED, small=4, large=12)
    await one_after_the_other(client, 20)
    assert Counter(calls) == {"small": 5, "large": 15}


async def test_least_busy_fills_the_idle_worker_first(pool: Harness) -> None:
    await pool.put()
    first, second = Gate(), Gate()
    await pool.worker(first, "w1", slots=8)
    before = await pool.dispatcher()
    client = await pool.client()
    handles = [await client.submit("acme", {"echo": 0}, cost=1) for _ in range(6)]
    for _ in handles:
        await first.begun()
    await before.stop()
    await pool.worker(second, "w2", slots=8)
    await pool.dispatcher(strategy=StrategyName.LEAST_BUSY)
    handles += [await client.submit("acme", {"echo": 0}, cost=1) for _ in range(6)]
    for _ in range(6):
        await second.begun()
    for gate in (first, second):
        gate.open_to.set()
    await client.wait_many(handles, 20)


async def test_a_worker_that_joins_gets_its_share_while_no_more_tasks_may_run(pool: Harness) -> None:
    calls: list[str] = []
    await pool.put(PoolConfig(slots=8, lease_ms=2_000))
    await pool.worker(Named("w1", calls), "w1", slots=8)
    await pool.dispatcher()
    client = await pool.client()
    answers = await client.submit_many(TaskSpec("acme", {"echo": n, "ms": 4}, 1) for n in range(600))
    handles = [answer for answer in answers if isinstance(answer, TaskHandle)]
    await pool.worker(Named("w2", calls), "w2", slots=8)
    await client.wait_many(handles, 20)
    assert len(calls) == 600
    assert 50 < Counter(calls[-200:])["w2"] < 150


async def test_a_custom_strategy_is_named_by_its_import_path(pool: Harness) -> None:
    client, calls = await client_and_calls(pool, f"{__name__}:own_strategy", w1=16, w2=16)
    await one_after_the_other(client, 6)
    assert Counter(calls) == {"w1": 3, "w2": 3}


async def test_an_import_path_without_a_strategy_is_refused_at_once(pool: Harness) -> None:
    config = DispatcherConfig(strategy=f"{__name__}:missing")
    with pytest.raises(WorkerError, match="has no attribute 'missing'") as caught:
        Dispatcher(pool.store, config)
    assert caught.value.code is WorkerErrorCode.INVALID_CONFIGURATION


async def test_a_slot_that_another_dispatcher_left_free_is_found_at_once(pool: Harness) -> None:
    """The plan names only the worker that the other dispatcher filled; the answer names the free one."""
    await pool.put()
    store = pool.store
    for name in ("a", "b"):
        await store.register(name, name, 1)
    client = await pool.client()
    dispatcher = Dispatcher(store, DispatcherConfig(heartbeat_ms=60_000))
    await client.submit("acme", {}, cost=1, task_id="first")
    for _ in range(2):  # it learns of the workers, and places the task; then it would sleep
        dispatcher._may_place_more(await dispatcher._place())
    await store.dispatch([], 0, unused=1)  # the other dispatcher keeps no places
    (mine,) = [worker.incarnation for worker in await store.workers() if worker.load]
    await client.submit("acme", {}, cost=1, task_id="second")
    assert (await store.dispatch([("b" if mine == "a" else "a", 1)], 1)).placed == 1
    (started,) = (await store.start(mine, 0)).tasks
    await store.settle(mine, [Settlement(started.ref, started.fence, Outcome.COMPLETED, 1)])
    third = await client.submit("acme", {}, cost=1, task_id="third")
    await store.wait(DISPATCHER_BELL, 0.1)
    signals = Signals()
    running = asyncio.create_task(dispatcher.run(signals))

    async def placed() -> bool:
        return await third.state() is TaskState.ENQUEUED

    await until(placed)
    signals.request_stop()
    await running
