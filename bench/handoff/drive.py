"""Drives the race between two steps of a hand-over: dispatchers that are killed, the naive and the product's."""

import asyncio
import random
from dataclasses import dataclass, field
from functools import partial

from bench.handoff import naive
from bench.handoff.measures import handoff
from bench.handoff.metrics import HandoffMetrics, NaiveHandoff
from bench.handoff.scenario import HandoffScenario
from bench.shared.evidence import Evidence, number_at
from bench.shared.kind import Run
from bench.shared.platform import Session
from bench.shared.provider import Counter, SimulatedProvider
from bench.shared.session import UNLIMITED, WARM_UP, complete, fresh_name, leftovers, submit, warm_up
from bench.shared.watch import Watch, watching
from fairlane.config import ControllerConfig, PoolConfig, SchedulerConfig, TenantConfig, WorkerConfig
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec

TENANT = "acme"
_DISPATCHER = "dispatcher"
_WAIT_S = 120.0
_LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: the process, the number of the last event before it, and how many tasks had not ended."""

    pid: int
    number: int
    unended: int


@dataclass
class _Feed:
    """Keeps tasks waiting until ``ended`` is set. Never cancelled: a submit under way must bring its handles."""

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


async def drive(scenario: HandoffScenario, run: Run) -> HandoffMetrics:
    """Run both sides and return the metrics.

    Raises:
        ScenarioError: a submit was refused, the event stream has a gap, or the dispatcher cannot be killed from here.
        TimeoutError: the dispatcher did not come back, or tasks did not end.
        FairlaneError: the scheduler itself failed.
    """
    platform, progress = run.platform, run.progress
    progress("the naive dispatcher")
    name = fresh_name(scenario.name)
    broken = await naive.race(platform.endpoint.url, name, cost=scenario.cost)
    provider = SimulatedProvider(platform.worker_url, name, ((0, UNLIMITED),))
    progress("starting workers")
    async with platform.scheduler(_config(scenario, name), provider) as session, watching(session.store) as watch:
        await warm_up(session, watch, scenario.worker_count, scenario.pool_slots, progress)
        kills, handles = await _kill_repeatedly(scenario, session, watch, run)
        progress("draining")
        outcomes = await session.wait_many(handles, _WAIT_S)
        end = await leftovers(session, watch)
    await Counter(platform.endpoint.url, name).forget()
    return HandoffMetrics(
        **dict(end),
        naive_handoff=NaiveHandoff(
            orphans=[*broken.orphans],
            slots=broken.slots,
            cost=broken.cost,
            handed_over=broken.handed_over,
            next_says=broken.next_says,
        ),
        handoff=handoff(
            complete(watch.recorder.evidence),
            TENANT,
            kills=[(each.pid, each.number, each.unended) for each in kills],
            results=sum(not isinstance(outcome, Exception) for outcome in outcomes),
        ),
    )


def _config(scenario: HandoffScenario, name: str) -> SchedulerConfig:
    return SchedulerConfig(
        name=name,
        pool=PoolConfig(slots=scenario.pool_slots, quantum_units=scenario.cost),
        tenants={TENANT: TenantConfig(), WARM_UP: TenantConfig()},
        workers=WorkerConfig(count=scenario.worker_count, slots=scenario.worker_slots),
        controller=ControllerConfig(enabled=False),
    )


async def _kill_repeatedly(
    scenario: HandoffScenario, session: Session, watch: Watch, run: Run
) -> tuple[list[Kill], list[TaskHandle]]:
    """Kill each new dispatcher a random time after its first hand-over, while tasks wait."""
    chance = random.Random(f"{run.seed}:{scenario.name}")  # noqa: S311 - a schedule
    feed = _Feed(session, scenario)
    feeding = asyncio.create_task(feed.run())
    kills: list[Kill] = []
    try:
        for number in range(1, scenario.kills + 1):
            run.progress(f"kill {number} of {scenario.kills}")
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
