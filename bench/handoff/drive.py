"""Drives the race between two steps of a hand-over: dispatchers that are killed, the naive and the product's."""

import asyncio
import random
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile

from bench.handoff import naive
from bench.handoff.measures import by_dispatcher, handoff, together
from bench.handoff.metrics import Handoff, HandoffMetrics, NaiveHandoff
from bench.handoff.scenario import HandoffScenario
from bench.shared.evidence import Evidence, number_at
from bench.shared.kind import Run
from bench.shared.metrics import EndMetrics
from bench.shared.platform import Progress, Session
from bench.shared.provider import Counter, SimulatedProvider
from bench.shared.session import UNLIMITED, WARM_UP, complete, fresh_name, leftovers, submit, warm_up
from bench.shared.watch import Watch, watching
from fairlane.config import (
    ControllerConfig,
    PoolConfig,
    SchedulerConfig,
    TenantConfig,
    WorkerConfig,
    WorkerSupervisorConfig,
)
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.store.messages import PoolView

TENANT = "acme"
_DISPATCHER = "dispatcher"
_WAIT_S = 120.0
_LOOK_S = 0.02
_RESTART_WITHIN_MS = 50
"""However often a dispatcher was killed before: the kills are the scenario's own."""


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: the process, the number of the last event before it, and how many tasks had not ended."""

    pid: int
    number: int
    unended: int


@dataclass
class _Feed:
    """Submits tasks whenever none is left, until ``ended`` is set: only a dispatcher begins an idle pool's work.

    Never cancelled: a submit under way must bring its handles.
    """

    session: Session
    scenario: HandoffScenario
    handles: list[TaskHandle] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        scenario = self.scenario
        payload = {"ms": scenario.takes_ms, "units": scenario.cost}
        while not self.ended.is_set():
            if (await self.session.store.snapshot()).pool.live == 0:
                specs = [TaskSpec(TENANT, payload, scenario.cost) for _ in range(scenario.backlog)]
                self.handles += await submit(self.session, specs)
            await asyncio.sleep(_LOOK_S)


async def drive(scenario: HandoffScenario, run: Run) -> HandoffMetrics:
    """Run the naive side, then the product's, on several schedulers at the same time; return the metrics of all.

    Raises:
        ScenarioError: a submit was refused, the event stream has a gap, or the dispatcher cannot be killed from here.
        TimeoutError: the dispatcher did not come back, or tasks did not end.
        FairlaneError: the scheduler itself failed.
    """
    run.progress("the naive dispatcher")
    broken = await naive.race(run.platform.endpoint.url, fresh_name("naive"), cost=scenario.cost)
    shares = [len(range(first, scenario.kills, scenario.schedulers)) for first in range(scenario.schedulers)]
    run.progress("starting workers")
    sides = [asyncio.create_task(_on_one_scheduler(scenario, run, *each)) for each in enumerate(shares)]
    try:
        parts = await asyncio.gather(*sides)
    finally:
        for side in sides:
            side.cancel()
        await asyncio.gather(*sides, return_exceptions=True)
    return HandoffMetrics(
        potential_orphans=[orphan for _, end in parts for orphan in end.potential_orphans],
        left_in_flight={what: sum(end.left_in_flight[what] for _, end in parts) for what in ("slots", "cost")},
        violations=[violation for _, end in parts for violation in end.violations],
        naive_handoff=NaiveHandoff(
            orphans=[*broken.orphans],
            slots=broken.slots,
            cost=broken.cost,
            handed_over=broken.handed_over,
            next_says=broken.next_says,
        ),
        handoff=together([found for found, _ in parts]),
    )


async def _on_one_scheduler(scenario: HandoffScenario, run: Run, number: int, kills: int) -> tuple[Handoff, EndMetrics]:
    """Kill the dispatcher of a scheduler ``kills`` times."""
    platform, name = run.platform, fresh_name(scenario.name)
    chance = random.Random(f"{run.seed}:{scenario.name}:{number}")  # noqa: S311 - a schedule
    provider = SimulatedProvider(platform.worker_url, name, ((0, UNLIMITED),))
    async with platform.scheduler(_config(scenario, name), provider) as session, watching(session.store) as watch:
        await warm_up(session, watch, scenario.worker_count, scenario.pool_slots, run.progress)
        killed, handles = await _kill_repeatedly(scenario, session, watch, kills, chance, run.progress)
        run.progress("draining")
        outcomes = await session.wait_many(handles, _WAIT_S)
        end = await leftovers(session, watch)
    await Counter(platform.endpoint.url, name).forget()
    found = handoff(
        complete(watch.recorder.evidence),
        TENANT,
        kills=[(each.pid, each.number, each.unended) for each in killed],
        results=sum(not isinstance(outcome, Exception) for outcome in outcomes),
    )
    return found, end


def _config(scenario: HandoffScenario, name: str) -> SchedulerConfig:
    return SchedulerConfig(
        name=name,
        pool=PoolConfig(slots=scenario.pool_slots, quantum_units=scenario.cost),
        tenants={TENANT: TenantConfig(), WARM_UP: TenantConfig()},
        workers=WorkerConfig(count=scenario.worker_count, slots=scenario.worker_slots),
        controller=ControllerConfig(enabled=False),
        supervisor=WorkerSupervisorConfig(backoff_cap_ms=_RESTART_WITHIN_MS),
    )


async def _kill_repeatedly(
    scenario: HandoffScenario, session: Session, watch: Watch, count: int, chance: random.Random, progress: Progress
) -> tuple[list[Kill], list[TaskHandle]]:
    """Kill each new dispatcher a random time after its first hand-over, while tasks have not ended."""
    feed = _Feed(session, scenario)
    feeding = asyncio.create_task(feed.run())
    kills: list[Kill] = []
    try:
        for number in range(1, count + 1):
            progress(f"kill {number} of {count}")
            since = kills[-1].number if kills else watch.recorder.evidence.last_number
            pid = (await session.actor_pids())[_DISPATCHER]
            await watch.until(partial(_handed_over, since=since), _WAIT_S)
            await asyncio.sleep(chance.uniform(0, scenario.longest_delay_ms) / 1000)
            before = await _at_work(session)
            await session.kill_actor(_DISPATCHER, pid)
            kills.append(Kill(pid, before.events, before.live))
            if feeding.done():
                feeding.result()
    finally:
        feed.ended.set()
        await asyncio.wait([feeding])
    feeding.result()
    return kills, feed.handles


async def _at_work(session: Session) -> PoolView:
    """Return the pool as soon as some task has not ended."""
    while True:
        pool = (await session.store.snapshot()).pool
        if pool.live:
            return pool
        await asyncio.sleep(_LOOK_S)


def _handed_over(evidence: Evidence, *, since: int) -> bool:
    latest = takewhile(lambda each: number_at(each.enqueued.place) > since, reversed(evidence.attempts.values()))
    return any(by_dispatcher(evidence, attempt) for attempt in latest)
