"""Drives a fairness scenario: warm up, start the clock, submit by the schedule, close, cancel, await, measure."""

import asyncio
from itertools import groupby

from bench.fairness.measures import Observation, measure
from bench.fairness.metrics import FairnessMetrics
from bench.fairness.scenario import FairnessScenario
from bench.shared.kind import Run
from bench.shared.platform import Progress, Session
from bench.shared.provider import Counter, SimulatedProvider
from bench.shared.session import WARM_UP, complete, fresh_name, leftovers, spans_of, submit, warm_up
from bench.shared.watch import Watch, watching
from fairlane.config import SchedulerConfig, TenantConfig, WorkerConfig
from fairlane.domain.task import TaskState
from fairlane.lifecycle.handle import TaskHandle

_DRAIN_TIMEOUT_S = 30.0


async def drive(scenario: FairnessScenario, run: Run) -> FairnessMetrics:
    """Run the scenario once and return its metrics.

    Raises:
        ScenarioError: a worker did not warm up, a submit was refused, the event stream has a gap, or the pool did
            not drain.
        FairlaneError: the scheduler itself failed.
    """
    name = fresh_name(scenario.name)
    platform, progress = run.platform, run.progress
    counter = Counter(platform.endpoint.url, name)
    limits = scenario.provider
    provider = SimulatedProvider(platform.worker_url, name, limits.schedule, limits.retry_after_ms)
    progress("starting workers")
    async with platform.scheduler(_config(scenario, name), provider) as session, watching(session.store) as watch:
        await warm_up(session, watch, scenario.worker_count, scenario.pool.slots, progress)
        await run.together()
        origin_ms = await counter.start_clock()
        handles = await _submit_by_schedule(scenario, session, run.seed, progress)
        progress("draining")
        await session.close_admission()
        outcomes = await _drain(session, watch, handles)
        end = await leftovers(session, watch)
    metrics = measure(
        Observation(scenario, complete(watch.recorder.evidence), origin_ms, spans_of(handles, outcomes)),
        provider_peak=await counter.peak(),
        end=end,
    )
    await counter.forget()
    return metrics


def _config(scenario: FairnessScenario, name: str) -> SchedulerConfig:
    return SchedulerConfig(
        name=name,
        pool=scenario.pool,
        tenants={load.id: load.config() for load in scenario.tenants} | {WARM_UP: TenantConfig()},
        dispatcher=scenario.dispatcher,
        workers=WorkerConfig(count=scenario.worker_count, slots=scenario.worker_slots),
        controller=scenario.controller,
    )


async def _submit_by_schedule(
    scenario: FairnessScenario, session: Session, seed: int, progress: Progress
) -> list[TaskHandle]:
    """Submit every arrival at its time, without waiting for the answers, until the run's end."""
    loop = asyncio.get_running_loop()
    started_s = loop.time()
    submits = []
    for at_ms, arrivals in groupby(scenario.arrivals(seed), key=lambda each: each.at_ms):
        delay_s = started_s + at_ms / 1000 - loop.time()
        if delay_s > 0:
            await asyncio.sleep(delay_s)
        submits.append(asyncio.create_task(submit(session, [each.spec() for each in arrivals])))
        progress(f"{at_ms / 1000:.1f} of {scenario.timing.run_ms / 1000:.1f} s")
    handles = [handle for answers in await asyncio.gather(*submits) for handle in answers]
    await asyncio.sleep(max(0.0, started_s + scenario.timing.run_ms / 1000 - loop.time()))
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
