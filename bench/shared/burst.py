"""Bursts: a tenant's tasks that are all submitted before any may start; and a scheduler to run them on."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from pydantic import JsonValue

from bench.shared.evidence import Evidence
from bench.shared.metrics import EndMetrics
from bench.shared.platform import Platform, Progress, Session
from bench.shared.provider import Counter, SimulatedProvider
from bench.shared.session import (
    UNLIMITED,
    WARM_UP,
    Arrival,
    CallSpan,
    ScenarioError,
    catch_up,
    complete,
    fresh_name,
    leftovers,
    spans_of,
    submit,
    warm_up,
)
from bench.shared.watch import Watch, watching
from fairlane.config import (
    BudgetConfig,
    ControllerConfig,
    PoolConfig,
    SchedulerConfig,
    TenantConfig,
    WindowConfig,
    WorkerConfig,
)
from fairlane.domain.policy import ThrottleScope
from fairlane.domain.task import TaskRef
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.store.messages import Ledger

WAIT_S = 60.0
_PAUSE_MS = 600_000


@dataclass(frozen=True, kw_only=True)
class Burst:
    """One tenant's tasks, all submitted before any worker may start one, on a budget that just pays for them."""

    waves: tuple[tuple[int, int], ...]
    """(How many, priority), in the order of the tasks' numbers."""
    takes_ms: tuple[int, ...]
    """Task i takes the i-th of these, counted in a circle."""
    submitted: tuple[int, ...] = ()
    """The numbers of all tasks in the order in which they are submitted; empty: in the order of their numbers."""
    cost: int
    budget_units: int
    pool_slots: int
    worker_count: int
    worker_slots: int

    def arrivals(self, tenant: str) -> list[Arrival]:
        """Return the tasks in the order in which they are submitted."""
        priorities = [priority for count, priority in self.waves for _ in range(count)]
        return [
            Arrival(0, tenant, f"{tenant}-{i:02}", self.takes_ms[i % len(self.takes_ms)], self.cost, priorities[i])
            for i in self.submitted or range(len(priorities))
        ]

    def pool(self, window: WindowConfig | None = None) -> PoolConfig:
        """Return the pool, with a window of starts or without."""
        return PoolConfig(
            slots=self.pool_slots, quantum_units=self.cost, throttle_scope=ThrottleScope.POOL, starts=window
        )

    def tenant(self) -> TenantConfig:
        """Return how the tenant is registered."""
        return TenantConfig(budget=BudgetConfig(limit_units=self.budget_units))

    def settings(self) -> dict[str, JsonValue]:
        """Return the parameters, for the results file."""
        lists = {"takes_ms": list(self.takes_ms), "submitted": list(self.submitted)}
        return {**asdict(self), "waves": [list(each) for each in self.waves], **lists}


STANDARD_BURST = Burst(
    waves=((16, 10), (8, 1)),
    takes_ms=(40, 60, 80),
    submitted=(*range(16), 18, 21, 16, 19, 17, 20, 23, 22),
    cost=100,
    budget_units=2_400,
    pool_slots=4,
    worker_count=2,
    worker_slots=3,
)
"""Without a window the urgent tasks start at 0, 0, 0, 0, 40, 40, 60 and 60 ms, and no slot is free again before 120 ms.

So no other task is handed over together with an urgent one unless the dispatcher is 60 ms late.
"""


@dataclass(frozen=True)
class FinishedBurst:
    """A burst that has ended."""

    tenant: str
    spans: dict[TaskRef, CallSpan]
    outcomes: list[object]
    ledger: Ledger


@dataclass(frozen=True)
class BurstSession:
    """A scheduler whose workers are warm, and its events."""

    session: Session
    watch: Watch
    burst: Burst
    name: str

    @property
    def evidence(self) -> Evidence:
        """What the events say so far."""
        return self.watch.recorder.evidence

    async def catch_up(self) -> None:
        """Read all events there are."""
        await catch_up(self.session, self.watch)

    async def submit_paused(
        self, tenant: str, specs: Sequence[TaskSpec], window: WindowConfig | None
    ) -> list[TaskHandle]:
        """Submit everything for a fresh tenant while the pool is paused."""
        store = self.session.store
        await store.put_pool(self.burst.pool(window))
        await store.put_tenants({tenant: self.burst.tenant()})
        await store.pause(_PAUSE_MS)
        return await submit(self.session, specs)

    async def finish(self, tenant: str, handles: list[TaskHandle]) -> FinishedBurst:
        """Await the ends."""
        outcomes = await self.session.wait_many(handles, WAIT_S)
        await self.catch_up()
        return FinishedBurst(tenant, spans_of(handles, outcomes), outcomes, await self.ledger(tenant))

    async def ledger(self, tenant: str) -> Ledger:
        """Read the tenant's ledger.

        Raises:
            ScenarioError: there is no such tenant.
        """
        ledger = await self.session.store.ledger(tenant)
        if ledger is None:
            raise ScenarioError(f"tenant {tenant} has no ledger")
        return ledger

    async def leftovers(self) -> EndMetrics:
        """Return what is left when nothing runs any more."""
        return await leftovers(self.session, self.watch)


@asynccontextmanager
async def burst_session(
    scenario: str, burst: Burst, platform: Platform, progress: Progress
) -> AsyncIterator[BurstSession]:
    """Run a scheduler for bursts. The provider takes any number of calls, so that only the pool limits.

    Raises:
        ScenarioError: a worker did not warm up, or, at the end, the event stream has a gap.
    """
    run = fresh_name(scenario)
    config = SchedulerConfig(
        name=run,
        pool=burst.pool(),
        tenants={WARM_UP: TenantConfig()},
        workers=WorkerConfig(count=burst.worker_count, slots=burst.worker_slots),
        controller=ControllerConfig(enabled=False),
    )
    progress("starting workers")
    provider = SimulatedProvider(platform.worker_url, run, ((0, UNLIMITED),))
    async with platform.scheduler(config, provider) as session, watching(session.store) as watch:
        await warm_up(session, watch, burst.worker_count, burst.pool_slots, progress)
        bursts = BurstSession(session, watch, burst, run)
        yield bursts
        await bursts.catch_up()
    await Counter(platform.endpoint.url, run).forget()
    complete(watch.recorder.evidence)
