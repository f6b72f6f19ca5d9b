"""Drives contests between strategies: all strategies of a contest side by side on the same loop."""

import asyncio

from bench.shared.kind import Run
from bench.workers.journal import Journal, Moment
from bench.workers.measure_strategies import trial
from bench.workers.metrics import StrategiesMetrics, Trial
from bench.workers.scenario import Contest, Entrant, StrategiesScenario
from bench.workers.scripted_worker import ScriptedWorker, call
from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK, Clock, system_rng
from fairlane.workers import Manager, WorkerGroup

_WAIT_S = 60.0


async def drive(scenario: StrategiesScenario, run: Run, clock: Clock = SYSTEM_CLOCK) -> StrategiesMetrics:
    """Hold every contest once and return the metrics.

    Raises:
        TimeoutError: tasks did not end.
        WorkerError: a manager could not start or stop.
    """
    trials: list[Trial] = []
    for contest in scenario.contests:
        run.progress(f"{contest.name}: {', '.join(each.strategy for each in contest.entrants)}")
        async with asyncio.timeout(_WAIT_S):
            trials += await asyncio.gather(
                *(_enter(scenario, contest, each, run.seed + each.stream, clock) for each in contest.entrants)
            )
    return StrategiesMetrics(trials=trials)


async def _enter(scenario: StrategiesScenario, contest: Contest, entrant: Entrant, seed: int, clock: Clock) -> Trial:
    journal = Journal()
    workers = [ScriptedWorker(each, journal, clock, scenario.lengths) for each in contest.workers]
    loop = asyncio.get_running_loop()
    async with Manager(WorkerGroup(workers), entrant.config(), clock=clock, rng=system_rng(seed)) as manager:
        slowing = asyncio.create_task(_slow_down(contest, workers, journal))
        began_s = loop.time()
        answers = await call(manager, range(scenario.tasks), contest.callers, clock=clock, ids=RANDOM_IDS)
        took_s = loop.time() - began_s
        slowing.cancel()
        await asyncio.gather(slowing, return_exceptions=True)
    return trial(contest, entrant.strategy, seed, journal, answers, took_s * 1000)


async def _slow_down(contest: Contest, workers: list[ScriptedWorker], journal: Journal) -> None:
    """Slow workers down when ``slows_after`` tasks have begun."""
    if contest.slows_after is None:
        return
    after = contest.slows_after
    await journal.until(lambda: sum(journal.counts[Moment.BEGUN, each.id] for each in workers) >= after, _WAIT_S)
    for spec, worker in zip(contest.workers, workers, strict=True):
        if spec.slowed_ms is not None:
            worker.takes_s = spec.slowed_ms / 1000
