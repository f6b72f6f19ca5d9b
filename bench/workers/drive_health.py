"""Drives workers that fail one after the other under load: one becomes unhealthy, then another one's check hangs."""

import asyncio
import itertools
from collections.abc import Mapping
from functools import partial

from bench.shared.kind import Run
from bench.shared.platform import Progress
from bench.shared.session import ScenarioError
from bench.workers.journal import Journal, Moment, errors_of
from bench.workers.measure_health import health
from bench.workers.metrics import HealthMetrics
from bench.workers.scenario import HealthScenario
from bench.workers.scripted_worker import Condition, ScriptedWorker, call
from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK, Clock, system_rng
from fairlane.workers import Manager, MemberEvent, MemberEventKind, WorkerGroup, WorkerStatus

_WAIT_S = 30.0


async def drive(scenario: HealthScenario, run: Run, clock: Clock = SYSTEM_CLOCK) -> HealthMetrics:
    """Run the scenario once and return its metrics.

    Raises:
        ScenarioError: every caller got an error.
        TimeoutError: a worker was not taken out, or did not come back.
        WorkerError: the manager could not start or stop.
    """
    journal = Journal()
    workers = {each.id: ScriptedWorker(each, journal, clock) for each in scenario.workers}
    group = WorkerGroup(workers.values())
    group.subscribe(partial(_note, journal, group))
    ended = asyncio.Event()
    async with Manager(group, scenario.config(), clock=clock, rng=system_rng(run.seed)) as manager:
        numbers = itertools.takewhile(lambda _: not ended.is_set(), itertools.count())
        calling = asyncio.create_task(call(manager, numbers, scenario.callers, clock=clock, ids=RANDOM_IDS))
        troubles = asyncio.create_task(_troubles(scenario, workers, journal, run.progress))
        try:
            await asyncio.wait({calling, troubles}, return_when=asyncio.FIRST_COMPLETED)
            if calling.done():
                raise ScenarioError(f"no caller is left: {'; '.join(errors_of(calling.result()))}")
            await troubles
        finally:
            troubles.cancel()
            workers[scenario.stuck].relieve()
            ended.set()
            async with asyncio.timeout(_WAIT_S):
                answers = await calling
    return HealthMetrics(health=health(scenario, journal, answers))


async def _troubles(
    scenario: HealthScenario, workers: Mapping[str, ScriptedWorker], journal: Journal, progress: Progress
) -> None:
    progress("all workers are healthy")
    await _all_at_work(scenario, journal)
    progress("one worker becomes unhealthy")
    await _fall_ill(scenario, workers[scenario.ill], journal)
    progress("a check hangs")
    await _get_stuck(scenario, workers[scenario.stuck], journal)


def _note(journal: Journal, group: WorkerGroup[ScriptedWorker], event: MemberEvent) -> None:
    member = event.member
    if event.kind is MemberEventKind.HEALTH:
        journal.note(Moment.REPORT, member.id, report=group.report(member.id))
    elif event.kind is MemberEventKind.STATUS and member.status is WorkerStatus.FAILED:
        journal.note(Moment.FAILED, member.id)


async def _all_at_work(scenario: HealthScenario, journal: Journal) -> None:
    counts = journal.counts
    await journal.until(
        lambda: all(
            counts[Moment.DONE, each.id] >= scenario.tasks_before and counts[Moment.REPORT, each.id] > 0
            for each in scenario.workers
        ),
        _WAIT_S,
    )


async def _fall_ill(scenario: HealthScenario, worker: ScriptedWorker, journal: Journal) -> None:
    """Return when the worker has been taken out, restarted, and given tasks again."""
    worker.trouble(Condition.ILL)
    await journal.until(lambda: journal.counts[Moment.FAILED, worker.id] > 0, _WAIT_S)
    await _back_at_work(scenario, worker, journal)


async def _get_stuck(scenario: HealthScenario, worker: ScriptedWorker, journal: Journal) -> None:
    """Return when the worker has been taken out, its check hung for its time, and it has been given tasks again."""
    loop = asyncio.get_running_loop()
    until_s = loop.time() + scenario.stuck_ms / 1000
    worker.trouble(Condition.STUCK)
    await journal.until(lambda: journal.counts[Moment.FAILED, worker.id] > 0, _WAIT_S)
    await asyncio.sleep(until_s - loop.time())
    worker.relieve()
    await _back_at_work(scenario, worker, journal)


async def _back_at_work(scenario: HealthScenario, worker: ScriptedWorker, journal: Journal) -> None:
    done = journal.counts[Moment.DONE, worker.id]
    await journal.until(lambda: journal.counts[Moment.DONE, worker.id] >= done + scenario.tasks_after, _WAIT_S)
