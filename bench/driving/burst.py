"""Drives bursts: a scheduler for them, and one burst from a paused pool to its last end."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bench.driving.load import WARM_UP, ScenarioError, spans_of, submit, warm_up, whole
from bench.driving.watch import Watch, watching
from bench.evidence import Evidence
from bench.measures import CallSpan
from bench.platform import Platform, Progress, Session
from bench.provider import Counter, SimulatedProvider
from bench.results import Metrics
from bench.scenario_controls import Burst
from fairlane.audit import check_invariants
from fairlane.clock import RANDOM_IDS
from fairlane.config import ControllerConfig, SchedulerConfig, TenantConfig, WindowConfig, WorkerConfig
from fairlane.domain.task import TaskRef
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.store.messages import Ledger

WAIT_S = 60.0
_PAUSE_MS = 600_000
_UNLIMITED = 1_000_000


@dataclass(frozen=True)
class Ran:
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
        await self.watch.catch_up((await self.session.store.snapshot()).pool.events, WAIT_S)

    async def submit_paused(
        self, tenant: str, specs: Sequence[TaskSpec], window: WindowConfig | None
    ) -> list[TaskHandle]:
        """Submit everything for a fresh tenant while the pool is paused."""
        store = self.session.store
        await store.put_pool(self.burst.pool(window))
        await store.put_tenants({tenant: self.burst.tenant()})
        await store.pause(_PAUSE_MS)
        return await submit(self.session, specs)

    async def finish(self, tenant: str, handles: list[TaskHandle]) -> Ran:
        """Await the ends."""
        outcomes = await self.session.wait_many(handles, WAIT_S)
        await self.catch_up()
        return Ran(tenant, spans_of(handles, outcomes), outcomes, await self.ledger(tenant))

    async def ledger(self, tenant: str) -> Ledger:
        """Read the tenant's ledger.

        Raises:
            ScenarioError: there is no such tenant.
        """
        ledger = await self.session.store.ledger(tenant)
        if ledger is None:
            raise ScenarioError(f"tenant {tenant} has no ledger")
        return ledger


@asynccontextmanager
async def burst_session(
    scenario: str, burst: Burst, platform: Platform, progress: Progress
) -> AsyncIterator[BurstSession]:
    """Run a scheduler for bursts. The provider takes whatever comes, so that only the pool limits.

    Raises:
        ScenarioError: a worker did not warm up, or, at the end, the event stream has a gap.
    """
    run = f"bench-{scenario}-{RANDOM_IDS.new_id()[:8]}"
    provider = SimulatedProvider(platform.worker_url, run, ((0, _UNLIMITED),))
    config = SchedulerConfig(
        name=run,
        pool=burst.pool(),
        tenants={WARM_UP: TenantConfig()},
        workers=WorkerConfig(count=burst.worker_count, slots=burst.worker_slots),
        controller=ControllerConfig(enabled=False),
    )
    progress("starting workers")
    async with platform.scheduler(config, provider) as session, watching(session.store) as watch:
        await warm_up(session, watch, burst.worker_count, burst.pool_slots, progress)
        bursts = BurstSession(session, watch, burst, run)
        yield bursts
        await bursts.catch_up()
    await Counter(platform.endpoint.url, run).forget()
    whole(watch.recorder.evidence)


async def leftovers(bursts: BurstSession) -> Metrics:
    """Return what is still held, which attempts hang, and what an audit finds, when nothing runs any more."""
    await bursts.catch_up()
    left = (await bursts.session.store.snapshot()).pool
    hanging = [each for each in bursts.evidence.attempts.values() if each.ended is None]
    return Metrics(
        potential_orphans=[f"{each.ref} (fence {each.fence})" for each in hanging],
        left_in_flight={"slots": left.slots, "cost": left.cost},
        violations=[str(violation) for violation in await check_invariants(bursts.session.store)],
    )
