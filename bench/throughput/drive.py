"""Drives the throughput scenario: loads through real workers, round trips, single calls, and the traces of a load."""

import asyncio

from bench.shared.kind import Run
from bench.shared.metrics import Percentiles
from bench.shared.platform import Session
from bench.shared.provider import InstantProvider
from bench.shared.session import fresh_name, submit
from bench.throughput import backlogs, decisions
from bench.throughput.measures import Turns, summed_up
from bench.throughput.meter import count_keys, data_bytes
from bench.throughput.metrics import Drained, ThroughputMetrics, ThroughputPoint
from bench.throughput.scenario import ThroughputScenario
from bench.throughput.turns import COST, WAIT_S, Tenants, take_turns
from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import (
    ControllerConfig,
    PoolConfig,
    SchedulerConfig,
    TenantConfig,
    WorkerConfig,
)
from fairlane.lifecycle.submission import TaskSpec

_WARM_UP = 2_000
_DRAINED_TASKS = 4_000
_RETENTION_MS = 2_000
_REST_S = 30.0
_SINGLE_TASKS = 20
"""Enough that no event of a load is left in a short stream."""
_SAMPLES = 12
"""Over more than two of the client's heartbeats."""


async def drive(scenario: ThroughputScenario, run: Run) -> ThroughputMetrics:
    """Run everything once and return the metrics.

    Raises:
        ScenarioError: a submit was refused, a task was lost, or the event stream has a gap.
        FairlaneError: the scheduler itself failed.
    """
    platform, progress = run.platform, run.progress
    pool = PoolConfig(
        slots=scenario.worker_count * scenario.worker_slots, quantum_units=COST, retention_ms=_RETENTION_MS
    )
    config = SchedulerConfig(
        name=fresh_name("throughput"),
        pool=pool,
        tenants={},
        workers=WorkerConfig(count=scenario.worker_count, slots=scenario.worker_slots),
        controller=ControllerConfig(enabled=False),
    )
    progress("starting workers")
    async with platform.scheduler(config, InstantProvider()) as session:
        await session.store.put_tenants({"light": TenantConfig()})
        progress("what stays behind")
        drained = await _drained(session, pool)
        await session.store.put_pool(pool)
        progress("round trips at light load")
        round_trip = await _round_trips(session, scenario.round_trips)
        loads = await take_turns(scenario, session, progress)
    calls, parked_ratios = await decisions.dispatch_calls(scenario, platform, progress)
    return ThroughputMetrics(
        loads=[_point(scenario, Tenants(count), loads) for count in scenario.tenant_counts],
        limited=_point(scenario, Tenants(scenario.limited_tenants, limited=True), loads),
        round_trip_ms=round_trip,
        dispatch_calls=calls,
        parked_ratios=parked_ratios,
        batching=await decisions.batching(scenario, platform, progress),
        backlogs=await backlogs.backlogs(scenario, platform, progress),
        drained=drained,
    )


def _point(scenario: ThroughputScenario, kind: Tenants, turns: dict[Tenants, Turns]) -> ThroughputPoint:
    """Summarise one kind's turns, beside those of the tenants that are also loaded with limits."""
    return summed_up(
        turns[kind],
        tenants=kind.count,
        tasks=scenario.tasks,
        reference=turns[Tenants(scenario.limited_tenants)],
        reference_tenants=scenario.limited_tenants,
    )


async def _round_trips(session: Session, count: int) -> Percentiles:
    """Submit one task at a time and await its result."""
    samples = []
    for number in range(count):
        began_s = SYSTEM_CLOCK.monotonic_s()
        handles = await submit(session, [TaskSpec("light", {"n": number}, COST)])
        await session.wait_many(handles, WAIT_S)
        samples.append((SYSTEM_CLOCK.monotonic_s() - began_s) * 1000)
    return Percentiles.of(samples)


async def _drained(session: Session, pool: PoolConfig) -> Drained:
    """Compare keys and memory before a load and after its retention. The event stream is kept short and full."""
    store = session.store
    await store.put_pool(pool.model_copy(update={"event_limit": 16}))
    await _anonymous_load(session, _WARM_UP)
    keys_before, data_before = await _at_rest(session)
    await _anonymous_load(session, _DRAINED_TASKS)
    keys_peak, data_peak = await count_keys(store), await data_bytes(store)
    keys_after, data_after = await _at_rest(session)
    return Drained(
        keys_before=keys_before,
        keys_peak=keys_peak,
        keys_after=keys_after,
        data_before_bytes=data_before,
        data_peak_bytes=data_peak,
        data_after_bytes=data_after,
    )


async def _anonymous_load(session: Session, tasks: int) -> None:
    handles = await submit(session, [TaskSpec("light", {"n": number}, COST) for number in range(tasks)])
    await session.wait_many(handles, WAIT_S)


async def _at_rest(session: Session) -> tuple[int, int]:
    """Return keys and data bytes at rest: when no task record is left, or so late that a record left is a leak.

    Tasks one at a time come first: an event of a load may be of one task or of hundreds, which is chance. The lowest of
    several samples counts, since the client may not have acknowledged its last results at one of them.
    """
    store = session.store
    await _round_trips(session, _SINGLE_TASKS)
    deadline_s = SYSTEM_CLOCK.monotonic_s() + _REST_S
    while SYSTEM_CLOCK.monotonic_s() < deadline_s:
        if not (await store.key_counts())["task"]:
            break
        await asyncio.sleep(0.2)
    samples = []
    for _ in range(_SAMPLES):
        samples.append((await count_keys(store), await data_bytes(store)))
        await asyncio.sleep(0.2)
    return min(keys for keys, _ in samples), min(size for _, size in samples)
