"""Drives the race between two steps of a hand-over: dispatchers that are killed, the naive and the product's."""

import asyncio
import random
from dataclasses import dataclass, field
from functools import partial

from bench.driving.load import WARM_UP, submit, warm_up, whole
from bench.driving.watch import Watch, watching
from bench.evidence import Evidence, number_at
from bench.figures import NaiveHandoff
from bench.measures.handoff import handoff
from bench.naive import handoff as naive
from bench.platform import Platform, Progress, Session
from bench.provider import Counter, SimulatedProvider
from bench.results import Metrics
from bench.scenario_controls import HandoffScenario
from fairlane.audit import check_invariants
from fairlane.clock import RANDOM_IDS
from fairlane.config import ControllerConfig, PoolConfig, SchedulerConfig, TenantConfig, WorkerConfig
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec

TENANT = "acme"
_DISPATCHER = "dispatcher"
_WAIT_S = 120.0
_LOOK_S = 0.02
_UNLIMITED = 1_000_000


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: of which process, after which event, and how many tasks had not ended then."""

    pid: int
    number: int
    unended: int


@dataclass
class _Feed:
    """Keeps tasks waiting until it is told to end. Never cancelled: a submit under way must bring its handles."""

    session: Session
    scenario: HandoffScenario
    handles: list[TaskHandle] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        scenario = self.scenario
        payload = {"ms": scenario.takes_ms, "units": scenario.cost}
        while not self.ended.is_set():
            if (await self.session.store.snapshot()).pool.live < scenario.backlog:
                specs = [TaskSpec(TENANT, payload, scenario.cost) for _ in range(scenario.backlog)]
                self.handles += await submit(self.session, specs)
            await asyncio.sleep(_LOOK_S)


async def drive(scenario: HandoffScenario, platform: Platform, *, seed: int, progress: Progress) -> Metrics:
    """Run both sides and return the metrics.

    Raises:
        ScenarioError: a submit was refused, the event stream has a gap, or the dispatcher cannot be killed from here.
        TimeoutError: the dispatcher did not come back, or tasks did not end.
        FairlaneError: the scheduler itself failed.
    """
    progress("the naive dispatcher")
    run = f"bench-{scenario.name}-{RANDOM_IDS.new_id()[:8]}"
    broken = await naive.race(platform.endpoint.url, run, cost=scenario.cost)
    provider = SimulatedProvider(platform.worker_url, run, ((0, _UNLIMITED),))
    progress("starting workers")
    async with platform.scheduler(_config(scenario, run), provider) as session, watching(session.store) as watch:
        await warm_up(session, watch, scenario.worker_count, scenario.pool_slots, progress)
        kills, handles = await _kill_again_and_again(scenario, session, watch, seed, progress)
        progress("draining")
        outcomes = await session.wait_many(handles, _WAIT_S)
        violations = await check_invariants(session.store)
        left = (await session.store.snapshot()).pool
        await watch.catch_up(left.events, _WAIT_S)
    await Counter(platform.endpoint.url, run).forget()
    evidence = whole(watch.recorder.evidence)
    return Metrics(
        naive_handoff=NaiveHandoff(
            orphans=[*broken.orphans],
            slots=broken.slots,
            cost=broken.cost,
            handed_over=broken.handed_over,
            next_says=broken.next_says,
        ),
        handoff=handoff(
            evidence,
            TENANT,
            kills=[(each.pid, each.number, each.unended) for each in kills],
            results=sum(not isinstance(outcome, Exception) for outcome in outcomes),
        ),
        potential_orphans=[f"{each.ref} (fence {each.fence})" for each in evidence.attempts.values() if not each.ended],
        left_in_flight={"slots": left.slots, "cost": left.cost},
        violations=[str(violation) for violation in violations],
    )


def _config(scenario: HandoffScenario, name: str) -> SchedulerConfig:
    return SchedulerConfig(
        name=name,
        pool=PoolConfig(slots=scenario.pool_slots, quantum_units=scenario.cost),
        tenants={TENANT: TenantConfig(), WARM_UP: TenantConfig()},
        workers=WorkerConfig(count=scenario.worker_count, slots=scenario.worker_slots),
        controller=ControllerConfig(enabled=False),
    )


async def _kill_again_and_again(
    scenario: HandoffScenario, session: Session, watch: Watch, seed: int, progress: Progress
) -> tuple[list[Kill], list[TaskHandle]]:
    """Kill each new dispatcher a random time after its first hand-over, while tasks wait."""
    chance = random.Random(f"{seed}:{scenario.name}")  # noqa: S311 - a schedule
    feed = _Feed(session, scenario)
    feeding = asyncio.create_task(feed.run())
    kills: list[Kill] = []
    try:
        for number in range(1, scenario.kills + 1):
            progress(f"kill {number} of {scenario.kills}")
            since = kills[-1].number if kills else watch.recorder.evidence.last_number
            pid = (await session.actor_pids())[_DISPATCHER]
            await watch.until(partial(_handed_over, since=since), _WAIT_S)
            await asyncio.sleep(chance.uniform(0, scenario.longest_delay_ms) / 1000)
            before = (await session.store.snapshot()).pool
            await session.kill_actor(_DISPATCHER, pid)
            kills.append(Kill(pid, before.events, before.live))
            if feeding.done():
                feeding.result()
    finally:
        feed.ended.set()
        await asyncio.wait([feeding])
    feeding.result()
    return kills, feed.handles


def _handed_over(evidence: Evidence, *, since: int) -> bool:
    latest = next(reversed(evidence.attempts.values()), None)
    return latest is not None and number_at(latest.enqueued.place) > since
