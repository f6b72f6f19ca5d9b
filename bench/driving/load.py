"""Drives a load scenario: warm up, start the clock, submit by the schedule, close, cancel, await, measure."""

import asyncio
from collections.abc import Sequence
from itertools import groupby

from bench.driving.watch import Watch, watching
from bench.evidence import Evidence
from bench.measures import CallSpan, Observation, measure
from bench.platform import Platform, Progress, Session
from bench.provider import Counter, SimulatedProvider
from bench.results import Metrics
from bench.scenario import Arrival, LoadScenario
from fairlane.audit import check_invariants
from fairlane.clock import RANDOM_IDS
from fairlane.config import SchedulerConfig, TenantConfig, WorkerConfig
from fairlane.domain.task import TaskRef, TaskState
from fairlane.errors import FairlaneError
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec

WARM_UP = "warm-up"
_WARM_UP_ROUNDS = 50
_DRAIN_TIMEOUT_S = 30.0


class ScenarioError(FairlaneError):
    """The scenario could not be carried out, so it shows nothing."""

    code = "scenario"


async def drive(scenario: LoadScenario, platform: Platform, *, seed: int, progress: Progress) -> Metrics:
    """Run the scenario once and return its metrics.

    Raises:
        ScenarioError: a worker did not warm up, a submit was refused, the event stream has a gap, or the pool did
            not drain.
        FairlaneError: the scheduler itself failed.
    """
    run = f"bench-{scenario.name}-{RANDOM_IDS.new_id()[:8]}"
    counter = Counter(platform.endpoint.url, run)
    provider = SimulatedProvider(platform.worker_url, run, scenario.provider.schedule, scenario.provider.retry_after_ms)
    progress("starting workers")
    async with platform.scheduler(_config(scenario, run), provider) as session, watching(session.store) as watch:
        await warm_up(session, watch, scenario.worker_count, scenario.pool.slots, progress)
        origin_ms = await counter.start_clock()
        handles = await _submit_by_schedule(scenario, session, seed, progress)
        progress("draining")
        await session.close_admission()
        outcomes = await _drain(session, watch, handles)
        violations = await check_invariants(session.store)
        left = (await session.store.snapshot()).pool
        await watch.catch_up(left.events, _DRAIN_TIMEOUT_S)
    metrics = measure(
        Observation(scenario, whole(watch.recorder.evidence), origin_ms, spans_of(handles, outcomes)),
        provider_peak=await counter.peak(),
        left_in_flight={"slots": left.slots, "cost": left.cost},
        violations=[str(violation) for violation in violations],
    )
    await counter.forget()
    return metrics


def _config(scenario: LoadScenario, name: str) -> SchedulerConfig:
    return SchedulerConfig(
        name=name,
        pool=scenario.pool,
        tenants={load.id: load.config() for load in scenario.tenants} | {WARM_UP: TenantConfig()},
        dispatcher=scenario.dispatcher,
        workers=WorkerConfig(count=scenario.worker_count, slots=scenario.worker_slots),
        controller=scenario.controller,
    )


async def warm_up(session: Session, watch: Watch, workers: int, slots: int, progress: Progress) -> None:
    """Let every worker run something, then leave no trace of it but in the event stream.

    Raises:
        ScenarioError: a worker took nothing.
    """
    progress("warming up")
    evidence = watch.recorder.evidence
    for _ in range(_WARM_UP_ROUNDS):
        handles = await submit(session, [TaskSpec(WARM_UP, {"ms": 20, "units": 1}, 1) for _ in range(2 * slots)])
        await session.wait_many(handles, _DRAIN_TIMEOUT_S)
        await watch.catch_up((await session.store.snapshot()).pool.events, _DRAIN_TIMEOUT_S)
        worked = {evidence.worker_of(each) for each in evidence.attempts.values() if each.active is not None}
        if len(worked) == workers:
            await session.remove_tenant(WARM_UP)
            return
    raise ScenarioError(f"only {len(worked)} of {workers} workers took work while warming up")


async def _submit_by_schedule(
    scenario: LoadScenario, session: Session, seed: int, progress: Progress
) -> list[TaskHandle]:
    """Submit every arrival at its time, without waiting for the answers, until the run's end."""
    loop = asyncio.get_running_loop()
    started_s = loop.time()
    submits = []
    for at_ms, arrivals in groupby(scenario.arrivals(seed), key=lambda each: each.at_ms):
        delay_s = started_s + at_ms / 1000 - loop.time()
        if delay_s > 0:
            await asyncio.sleep(delay_s)
        submits.append(asyncio.create_task(submit(session, [spec_of(each) for each in arrivals])))
        progress(f"{at_ms / 1000:.1f} of {scenario.timing.run_ms / 1000:.1f} s")
    handles = [handle for answers in await asyncio.gather(*submits) for handle in answers]
    await asyncio.sleep(max(0.0, started_s + scenario.timing.run_ms / 1000 - loop.time()))
    return handles


def whole(evidence: Evidence) -> Evidence:
    """Return the evidence of a stream that was read from its beginning.

    Raises:
        ScenarioError: an event is missing.
    """
    if evidence.gap is not None or evidence.first_number != 1:
        raise ScenarioError(f"the event stream is incomplete: {evidence.gap or 'its beginning is missing'}")
    return evidence


def spec_of(arrival: Arrival) -> TaskSpec:
    """Return the task as it is submitted."""
    return TaskSpec(
        arrival.tenant,
        {"ms": arrival.takes_ms, "units": arrival.cost},
        arrival.cost,
        task_id=arrival.task_id,
        priority=arrival.priority,
    )


async def submit(session: Session, specs: Sequence[TaskSpec]) -> list[TaskHandle]:
    """Submit tasks of which none may be refused.

    Raises:
        ScenarioError: one was refused.
    """
    handles = []
    for answer in await session.submit_many(specs):
        if not isinstance(answer, TaskHandle):
            raise ScenarioError(f"a submit was refused: {answer}")
        handles.append(answer)
    return handles


async def _drain(session: Session, watch: Watch, handles: list[TaskHandle]) -> list[object]:
    """Cancel what has not started and await the rest."""
    tasks = watch.recorder.evidence.tasks
    waiting = [
        handle.ref
        for handle in handles
        if not handle.ended and (handle.ref not in tasks or tasks[handle.ref].state is not TaskState.ACTIVE)
    ]
    await asyncio.gather(*(session.cancel(ref.tenant, ref.id) for ref in waiting))
    return await session.wait_many(handles, _DRAIN_TIMEOUT_S)


def spans_of(handles: Sequence[TaskHandle], outcomes: Sequence[object]) -> dict[TaskRef, CallSpan]:
    """Return the provider's marks of the calls that completed."""
    spans = {}
    for handle, outcome in zip(handles, outcomes, strict=True):
        match outcome:
            case {"entered_us": int(entered_us), "left_us": int(left_us)}:
                spans[handle.ref] = CallSpan(entered_us, left_us)
    return spans
