"""Drives contests between strategies: all strategies of a contest side by side on the same loop."""

import asyncio

from bench.driving.crew import CrewWorker, call
from bench.figures_pool import PoolTrial
from bench.measures.strategies import trial
from bench.platform import Progress
from bench.pool_journal import Journal, Moment
from bench.results import Metrics
from bench.scenario_pool import Contest, Entrant, StrategiesScenario
from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK, Clock, system_rng
from fairlane.workers import Manager, WorkerGroup

_WAIT_S = 60.0


async def drive(scenario: StrategiesScenario, *, seed: int, progress: Progress, clock: Clock = SYSTEM_CLOCK) -> Metrics:
    """Hold every contest once and return the metrics.

    Raises:
        TimeoutError: tasks did not end.
        WorkerError: a manager could not begin or end.
    """
    trials: list[PoolTrial] = []
    for contest in scenario.contests:
        progress(f"{contest.name}: {', '.join(each.strategy for each in contest.entrants)}")
        async with asyncio.timeout(_WAIT_S):
            trials += await asyncio.gather(
                *(_enter(scenario, contest, each, seed + each.stream, clock) for each in contest.entrants)
            )
    return Metrics(pool_trials=trials)


async def _enter(
    scenario: StrategiesScenario, contest: Contest, entrant: Entrant, seed: int, clock: Clock
) -> PoolTrial:
    journal = Journal()
    crew = [CrewWorker(each, journal, clock, scenario.lengths) for each in contest.crew]
    loop = asyncio.get_running_loop()
    async with Manager(WorkerGroup(crew), entrant.config(), clock=clock, rng=system_rng(seed)) as manager:
        slowing = asyncio.create_task(_slow_down(contest, crew, journal))
        began_s = loop.time()
        answers = await call(manager, range(scenario.tasks), contest.callers, clock=clock, ids=RANDOM_IDS)
        took_s = loop.time() - began_s
        slowing.cancel()
        await asyncio.gather(slowing, return_exceptions=True)
    return trial(contest, entrant.strategy, seed, journal, answers, took_s * 1000)


async def _slow_down(contest: Contest, crew: list[CrewWorker], journal: Journal) -> None:
    """Slow workers down when so many tasks have begun."""
    if contest.slows_after is None:
        return
    after = contest.slows_after
    await journal.until(lambda: sum(journal.counts[Moment.BEGUN, each.id] for each in crew) >= after, _WAIT_S)
    for member, worker in zip(contest.crew, crew, strict=True):
        if member.slowed_ms is not None:
            worker.takes_s = member.slowed_ms / 1000
