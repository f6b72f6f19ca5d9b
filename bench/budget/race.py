"""The race for a budget: contenders released together, the naive way and through the product."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

from bench.budget import naive
from bench.budget.metrics import BudgetRaceSide
from bench.budget.scenario import BudgetRace, BudgetRaceScenario
from bench.shared.budget_use import BudgetUse, budget_use
from bench.shared.evidence import Evidence
from bench.shared.manual_worker import ManualWorker
from bench.shared.session import ScenarioError, complete, fresh_name
from bench.shared.watch import watching
from fairlane.config import PoolConfig
from fairlane.domain.task import TaskRef, TaskState, TaskView
from fairlane.lifecycle.payload import encode, fingerprint
from fairlane.store.connection import Endpoint
from fairlane.store.messages import Submission
from fairlane.store.store import Store

TENANT = "race"
_WAIT_S = 30.0
_LOOK_S = 0.01
_CLIENT = "bench-contender"


async def naive_side(endpoint: Endpoint, race: BudgetRace) -> BudgetRaceSide:
    """Run the naive counterpart."""
    ended = await naive.race(
        endpoint.url,
        f"{fresh_name('race')}:budget",
        budget=race.budget_units,
        cost=race.cost,
        contenders=race.contenders,
    )
    return BudgetRaceSide(
        side="naive",
        contenders=race.contenders,
        accepted=ended.accepted,
        rejected=race.contenders - ended.accepted,
        answers={f"read {read}": count for read, count in sorted(Counter(ended.read).items())},
        use=BudgetUse.of(
            limit=race.budget_units,
            admitted=ended.accepted * race.cost,
            held=0,
            spent=race.budget_units - ended.remaining,
        ),
    )


async def contend(
    endpoint: Endpoint, name: str, race: BudgetRace, contenders: int, work: Callable[[], Awaitable[None]] | None = None
) -> list[TaskView]:
    """Let each contender submit its task and dispatch one task, all at once, and await every end.

    ``work``: called again and again until then; None when real workers do it.
    """
    barrier = asyncio.Barrier(contenders)
    refs = [TaskRef(TENANT, f"task-{number}") for number in range(contenders)]
    payload = encode({"ms": 20, "units": race.cost})
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(Store(endpoint, name))
        await owner.put_tenants({TENANT: race.tenant()})
        plan = [(worker.incarnation, 1) for worker in await owner.workers()]
        stores = [await stack.enter_async_context(Store(endpoint, name)) for _ in refs]
        await asyncio.gather(*(store.snapshot() for store in stores))  # connected before the race

        async def one(store: Store, ref: TaskRef) -> None:
            submission = Submission(ref, race.cost, payload, fingerprint(payload, race.cost, 100, 0))
            await barrier.wait()
            await store.submit([submission], _CLIENT)
            await store.dispatch(plan, 1)

        await asyncio.gather(*(one(store, ref) for store, ref in zip(stores, refs, strict=True)))
        async with asyncio.timeout(_WAIT_S):
            while True:
                views = [view for view in await owner.get(refs) if view is not None]
                if len(views) == contenders and all(view.state.ended for view in views):
                    return views
                await (work() if work is not None else asyncio.sleep(_LOOK_S))


async def repaired_side(
    store: Store, evidence: Evidence, race: BudgetRace, views: Sequence[TaskView]
) -> BudgetRaceSide:
    """Return how the product's side ended: what was let through by the events, the reasons by the tasks.

    Raises:
        ScenarioError: the tenant is gone.
    """
    ledger = await store.ledger(TENANT)
    if ledger is None:
        raise ScenarioError(f"tenant {TENANT} has no ledger")
    rejected = [view for view in views if view.state is TaskState.REJECTED]
    return BudgetRaceSide(
        side="repaired",
        contenders=len(views),
        accepted=len({attempt.ref for attempt in evidence.of_tenant(TENANT)}),
        rejected=len(rejected),
        answers=dict(sorted(Counter(view.error_code or view.state.value for view in views).items())),
        use=budget_use(evidence, TENANT, ledger),
    )


async def alone(scenario: BudgetRaceScenario, endpoint: Endpoint, contenders: int) -> BudgetRaceSide:
    """Run the race on a new pool, with a worker that the driver plays.

    Raises:
        ScenarioError: the event stream has a gap.
    """
    race = scenario.race
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(Store(endpoint, fresh_name(scenario.name)))
        await store.put_pool(PoolConfig(slots=contenders, quantum_units=race.cost))
        stack.push_async_callback(store.erase)
        watch = await stack.enter_async_context(watching(store))
        worker = ManualWorker(store, "contender")
        await worker.register(contenders)

        async def work() -> None:
            tasks, _ = await worker.take()
            await worker.complete(tasks)

        views = await contend(endpoint, store.name, race, contenders, work)
        await watch.catch_up((await store.snapshot()).pool.events, _WAIT_S)
        return await repaired_side(store, complete(watch.recorder.evidence), race, views)
