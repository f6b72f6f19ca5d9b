"""Drives the throughput scenario: loads through real workers, round trips, single calls, and what stays behind."""

import asyncio
from statistics import median

from bench.driving import decisions
from bench.driving.clean import count_keys, keys_of
from bench.driving.load import ScenarioError, submit
from bench.driving.meter import Reading, data_bytes, read
from bench.figures import Drained, Percentiles, ThroughputPoint
from bench.measures.service import ranked
from bench.platform import Platform, Progress, Session
from bench.provider import InstantProvider
from bench.recorder import Recorder
from bench.results import Metrics
from bench.scenario import ThroughputScenario
from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK
from fairlane.config import (
    BudgetConfig,
    ControllerConfig,
    PoolConfig,
    SchedulerConfig,
    TenantConfig,
    WindowConfig,
    WorkerConfig,
)
from fairlane.domain.task import TaskState
from fairlane.lifecycle.submission import TaskSpec
from fairlane.store.store import Store

_COST = 1_000
_PLENTY = 10**9
_LIMITED = TenantConfig(
    budget=BudgetConfig(limit_units=_PLENTY, period_ms=5_000),
    starts=WindowConfig(limit=_PLENTY, interval_ms=1_000),
    spend=WindowConfig(limit=_PLENTY, interval_ms=1_000),
)
"""Limits that hold nobody back: what is measured is what keeping them costs."""
_WAIT_S = 120.0
_WARM_UP = 2_000
_SETTLE_S = 30.0
_LOOKS = 12
"""Over more than two of the client's heartbeats."""


async def drive(scenario: ThroughputScenario, platform: Platform, *, progress: Progress) -> Metrics:
    """Run everything once and return the metrics.

    Raises:
        ScenarioError: a submit was refused, a task was lost, or the event stream has a gap.
        FairlaneError: the scheduler itself failed.
    """
    pool = PoolConfig(slots=scenario.worker_count * scenario.worker_slots, quantum_units=_COST, retention_ms=5_000)
    config = SchedulerConfig(
        name=f"bench-throughput-{RANDOM_IDS.new_id()[:8]}",
        pool=pool,
        tenants={},
        workers=WorkerConfig(count=scenario.worker_count, slots=scenario.worker_slots),
        controller=ControllerConfig(enabled=False),
    )
    progress("starting workers")
    async with platform.scheduler(config, InstantProvider()) as session:
        await _load(session, 3, _WARM_UP)
        loads = await _take_turns(scenario, session, progress)
        progress("round trips at light load")
        round_trip = await _round_trips(session, scenario.round_trips)
        progress("what stays behind")
        drained = await _drained(session, pool, scenario.tasks)
    points, bytes_per_task = await decisions.dispatch_calls(scenario, platform, progress)
    return Metrics(
        loads=[_fastest(loads[count, False]) for count in scenario.tenant_counts],
        limited=_fastest(loads[scenario.limited_tenants, True]),
        round_trip_ms=round_trip,
        dispatch_calls=points,
        batching=await decisions.batching(scenario, platform, progress),
        bytes_per_pending_task=bytes_per_task,
        drained=drained,
    )


async def _take_turns(
    scenario: ThroughputScenario, session: Session, progress: Progress
) -> dict[tuple[int, bool], list[ThroughputPoint]]:
    """Drive every load again and again, by tenant count and whether the tenants have limits.

    The load with limits and its like without take turns in being first.
    """
    turns: dict[tuple[int, bool], list[ThroughputPoint]] = {}
    for turn in range(scenario.rounds):
        for count in scenario.tenant_counts:
            kinds = [bool(turn % 2), not turn % 2] if count == scenario.limited_tenants else [False]
            for limited in kinds:
                limits = " with limits" if limited else ""
                progress(f"{scenario.tasks:,} tasks of {count:,} tenants{limits}, turn {turn + 1} of {scenario.rounds}")
                point = await _load(session, count, scenario.tasks, _LIMITED if limited else None)
                turns.setdefault((count, limited), []).append(point)
    return turns


async def _load(session: Session, tenant_count: int, tasks: int, tenant: TenantConfig | None = None) -> ThroughputPoint:
    """Drive one load and read its events back."""
    store = session.store
    tenants = [f"tenant-{number:05}" for number in range(tenant_count)]
    await session.store.put_tenants(dict.fromkeys(tenants, tenant or TenantConfig()))
    specs = [TaskSpec(tenants[number % tenant_count], {"n": number}, _COST) for number in range(tasks)]
    after = await _last_event(store)
    before = await read(store)
    began_s = SYSTEM_CLOCK.monotonic_s()
    handles = await submit(session, specs)
    outcomes = await session.wait_many(handles, _WAIT_S)
    elapsed_s = SYSTEM_CLOCK.monotonic_s() - began_s
    used = (await read(store)).since(before)
    lost = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    if lost:
        raise ScenarioError(f"{len(lost)} of {tasks} tasks have no result; the first: {lost[0]}")
    events = await _read_back(store, after, tasks)
    for first in range(0, tenant_count, 500):
        await asyncio.gather(*(session.remove_tenant(each) for each in tenants[first : first + 500]))
    return _point(tenant_count, tasks, elapsed_s, used, events)


def _point(tenants: int, tasks: int, elapsed_s: float, used: Reading, events: int) -> ThroughputPoint:
    return ThroughputPoint(
        tenants=tenants,
        tasks=tasks,
        tasks_per_s=tasks / elapsed_s,
        turns_per_s=[tasks / elapsed_s],
        calls_per_task=used.work_calls / tasks,
        redis_cpu_us_per_task=used.cpu_s * 1_000_000 / tasks,
        commands_per_task={name: round(count / tasks, 4) for name, count in sorted(used.calls.items())},
        us_per_call={name: round(used.micros[name] / count, 3) for name, count in sorted(used.calls.items())},
        events=events,
    )


def _fastest(points: list[ThroughputPoint]) -> ThroughputPoint:
    """Return the fastest turn, with the most calls per task and the median CPU time of all."""
    best = max(points, key=lambda each: each.tasks_per_s)
    return best.model_copy(
        update={
            "turns_per_s": [round(each.tasks_per_s, 1) for each in points],
            "calls_per_task": max(each.calls_per_task for each in points),
            "redis_cpu_us_per_task": median(each.redis_cpu_us_per_task for each in points),
        }
    )


async def _last_event(store: Store) -> str:
    entries = await store.command("XREVRANGE", store.keys.events, "+", "-", "COUNT", 1)
    return entries[0][0].decode() if entries else "0"


async def _read_back(store: Store, after: str, tasks: int) -> int:
    """Read the load's events; every task must have completed, exactly once."""
    recorder = Recorder()
    entries = 0
    while events := await store.events(after, 1_000):
        entries += len(events)
        after = events[-1].stream_id
        recorder.read(events)
    evidence = recorder.evidence
    if evidence.gap is not None:
        raise ScenarioError(f"the event stream is incomplete: {evidence.gap}")
    completed = sum(task.state is TaskState.COMPLETED for task in evidence.tasks.values())
    once = sum(attempt.ended_well for attempt in evidence.attempts.values())
    if (completed, once) != (tasks, tasks):
        raise ScenarioError(f"events tell of {completed} completed tasks in {once} good attempts, not of {tasks}")
    return entries


async def _round_trips(session: Session, count: int) -> Percentiles:
    """Submit one task at a time and await its result."""
    await session.store.put_tenants({"light": TenantConfig()})
    samples = []
    for number in range(count):
        began_s = SYSTEM_CLOCK.monotonic_s()
        handles = await submit(session, [TaskSpec("light", {"n": number}, _COST)])
        await session.wait_many(handles, _WAIT_S)
        samples.append((SYSTEM_CLOCK.monotonic_s() - began_s) * 1000)
    return ranked(samples)


async def _drained(session: Session, pool: PoolConfig, tasks: int) -> Drained:
    """Compare keys and memory before a load and after its retention. The event stream is kept short and full."""
    store = session.store
    await store.put_pool(pool.model_copy(update={"event_limit": 16, "retention_ms": 1_000}))
    await session.store.put_tenants({"light": TenantConfig()})
    await _anonymous_load(session, _WARM_UP)
    keys_before, data_before = await _settled(store)
    await _anonymous_load(session, tasks)
    keys_peak, data_peak = await count_keys(store), await data_bytes(store)
    keys_after, data_after = await _settled(store)
    return Drained(
        keys_before=keys_before,
        keys_peak=keys_peak,
        keys_after=keys_after,
        data_before_bytes=data_before,
        data_peak_bytes=data_peak,
        data_after_bytes=data_after,
    )


async def _anonymous_load(session: Session, tasks: int) -> None:
    handles = await submit(session, [TaskSpec("light", {"n": number}, _COST) for number in range(tasks)])
    await session.wait_many(handles, _WAIT_S)


async def _settled(store: Store) -> tuple[int, int]:
    """Return keys and data bytes at rest: once no task record is left, or so late that one that is left is a leak.

    Of several looks the lowest counts, since at any instant the client's last news may wait to be acknowledged.
    """
    prefix = store.keys.key("task", "").encode()
    deadline_s = SYSTEM_CLOCK.monotonic_s() + _SETTLE_S
    while SYSTEM_CLOCK.monotonic_s() < deadline_s:
        if not any([key.startswith(prefix) async for page in keys_of(store) for key in page]):
            break
        await asyncio.sleep(0.2)
    looks = []
    for _ in range(_LOOKS):
        looks.append((await count_keys(store), await data_bytes(store)))
        await asyncio.sleep(0.2)
    return min(keys for keys, _ in looks), min(size for _, size in looks)
