"""A user's everyday calls of a scheduler."""

import asyncio
import threading

import pytest
import pytest_asyncio

import fairlane
from fairlane import BudgetConfig, CancelStatus, Scheduler, SchedulerConfig, TaskSpec, TaskState, TenantConfig
from fairlane.domain.events import EnqueuedRow
from fairlane.embedded.processes import wait_until
from fairlane.providers.simulated import SimulatedProvider

from .conftest import PROVIDER, gone

pytestmark = [pytest.mark.ray, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scheduler(platform):
    """One scheduler, shared by the tests that leave it unchanged."""
    config = SchedulerConfig(name="library-use", tenants={"acme": TenantConfig(weight=2), "beta": TenantConfig()})
    async with fairlane.Scheduler(config, provider=PROVIDER, platform=platform) as scheduler:
        yield scheduler


async def test_submit_and_await(scheduler):
    handle = await scheduler.submit("acme", {"echo": {"text": "hello"}, "actual": 120}, cost=400)
    assert await handle.result(timeout_s=30) == {"text": "hello"}
    view = await scheduler.client.get("acme", handle.ref.id)
    assert (view.state, view.cost, view.actual) == (TaskState.COMPLETED, 400, 120)
    assert await scheduler.client.get("acme", "never-submitted") is None


async def test_many_tasks_of_two_tenants_through_two_workers(scheduler):
    before = (await scheduler.operator.snapshot()).pool
    specs = [TaskSpec(("acme", "beta")[i % 2], {"echo": i, "ms": 2}, cost=50) for i in range(500)]
    handles = await scheduler.submit_many(specs)
    assert await scheduler.wait_many(handles, timeout_s=60) == list(range(500))

    pool = (await scheduler.operator.snapshot()).pool
    assert (pool.slots, pool.cost, pool.successes - before.successes) == (0, 0, 500)
    names = {view.incarnation: view.name.split("@")[0] for view in await scheduler.operator.workers()}
    events = await scheduler.store.events(limit=10_000)
    refs = {handle.ref.id for handle in handles}
    placed = [row for event in events for row in event.rows if isinstance(row, EnqueuedRow) and row.task in refs]
    assert len(placed) == 500
    assert {names[row.incarnation] for row in placed} == {"worker-1", "worker-2"}


async def test_submit_many_returns_a_refusal_and_submit_raises_it(scheduler):
    good, unknown = await scheduler.submit_many([TaskSpec("acme", {"echo": 1}, 5), TaskSpec("nobody", {}, 5)])
    assert await good.result(timeout_s=30) == 1
    assert isinstance(unknown, fairlane.UnknownTenant)
    with pytest.raises(fairlane.UnknownTenant):
        await scheduler.submit("nobody", {}, cost=5)
    with pytest.raises(fairlane.TaskFailed, match="refus"):
        await (await scheduler.submit("acme", {"refuse": True}, cost=5)).result(timeout_s=30)


async def test_cancel_reaches_a_running_task(scheduler):
    handle = await scheduler.submit("acme", {"ms": 60_000}, cost=5)
    while await handle.state() is not TaskState.ACTIVE:
        await asyncio.sleep(0.01)
    assert await scheduler.client.cancel("acme", handle.ref.id) is CancelStatus.STOPPING
    with pytest.raises(fairlane.TaskCancelled):
        await handle.result(timeout_s=30)


async def test_the_operator_s_operations(scheduler):
    await scheduler.operator.put_tenant("gamma", TenantConfig(weight=7))
    assert {view.id: view.weight for view in (await scheduler.operator.snapshot()).tenants}["gamma"] == 7
    assert await scheduler.operator.remove_tenant("gamma")
    assert not await scheduler.operator.remove_tenant("gamma")
    assert await scheduler.operator.set_capacity(1_000) == scheduler.config.pool.slots

    await scheduler.operator.pause(60_000)
    handle = await scheduler.submit("acme", {"echo": "late"}, cost=5)
    with pytest.raises(fairlane.ResultTimeout):
        await handle.result(timeout_s=0.3)
    await scheduler.operator.resume()
    assert await handle.result(timeout_s=30) == "late"

    await scheduler.operator.close_admission()
    with pytest.raises(fairlane.AdmissionClosed):
        await scheduler.submit("acme", {}, cost=5)
    await scheduler.operator.open_admission()
    assert await (await scheduler.submit("acme", {"echo": "in"}, cost=5)).result(timeout_s=30) == "in"


async def test_a_budget_is_spent_read_topped_up_and_refuses_with_its_reason(scheduler):
    budget = BudgetConfig(limit_units=100, when_exhausted=fairlane.BudgetPolicy.REJECT)
    await scheduler.operator.put_tenant(
        "thrifty", TenantConfig(budget=budget, starts=fairlane.WindowConfig(limit=9, interval_ms=1))
    )
    assert await (await scheduler.submit("thrifty", {"echo": 1, "actual": 70}, cost=100)).result(timeout_s=30) == 1
    ledger = await scheduler.operator.ledger("thrifty")
    assert isinstance(ledger, fairlane.Ledger)
    assert (ledger.limit, ledger.held, ledger.spent, ledger.remaining) == (100, 0, 70, 30)
    with pytest.raises(fairlane.TaskRejected, match="budget_exhausted") as rejected:
        await (await scheduler.submit("thrifty", {"echo": 2}, cost=31)).result(timeout_s=30)
    assert rejected.value.error_code == "budget_exhausted"
    with pytest.raises(fairlane.CostAboveCeiling, match="at most 100"):
        await scheduler.submit("thrifty", {"echo": 2}, cost=101)
    assert [await scheduler.operator.top_up("thrifty", 50, "invoice-7") for _ in range(2)] == [150, 150]
    assert await (await scheduler.submit("thrifty", {"echo": 3}, cost=31)).result(timeout_s=30) == 3
    assert await scheduler.operator.ledger("nobody") is None
    with pytest.raises(fairlane.ConfigError, match="no budget"):
        await scheduler.operator.top_up("acme", 5, "k")


async def test_a_name_is_taken_while_it_runs(scheduler, platform):
    second = Scheduler(scheduler.config, PROVIDER, platform=platform)
    with pytest.raises(fairlane.RuntimeStartError, match="already runs on this Ray"):
        await second.start()
    assert await (await scheduler.submit("acme", {"echo": 1}, cost=5)).result(timeout_s=30) == 1


async def test_after_a_failed_start_and_after_a_stop_the_name_is_free_at_once(platform, config):
    expected = r"^worker-\d: provider 'no.such:thing' cannot be imported"
    with pytest.raises(fairlane.RuntimeStartError, match=expected):
        await Scheduler(config, "no.such:thing", platform=platform).start()
    again = Scheduler(config, SimulatedProvider(default_ms=1), platform=platform)
    for turn in range(2):
        async with again:
            operator = again.operator
            pids = await operator.actor_pids()
            assert pids.keys() == {"controller", "dispatcher", "worker-1", "worker-2"}
            assert await (await again.submit("acme", {"echo": turn}, cost=5)).result(timeout_s=30) == turn
        with pytest.raises(fairlane.RuntimeStartError, match=f"scheduler {config.name} is not started"):
            await operator.add_worker()
        assert wait_until(lambda pids=pids: all(map(gone, pids.values())), 5.0)


async def test_a_provider_that_does_not_pickle_is_a_plain_error(platform, config):
    class Holding(SimulatedProvider):
        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

    with pytest.raises(fairlane.ConfigError, match="cannot be pickled"):
        await Scheduler(config, Holding(), platform=platform).start()


async def test_use_before_the_start_is_a_plain_error(config):
    unstarted = Scheduler(config, PROVIDER)
    for use in (lambda: unstarted.submit("acme", {}, cost=1), lambda: unstarted.client, lambda: unstarted.operator):
        with pytest.raises(fairlane.RuntimeStartError, match=f"scheduler {config.name} is not started"):
            use()
    with pytest.raises(fairlane.ConfigError, match="provider"):
        Scheduler(config)
