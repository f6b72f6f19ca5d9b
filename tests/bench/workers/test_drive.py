"""The worker scenarios, driven in virtual time, so that their figures do not depend on the machine."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bench.shared.session import ScenarioError
from bench.workers import drive_health, drive_strategies
from bench.workers.journal import Journal, Moment
from bench.workers.metrics import HealthMetrics, StrategiesMetrics
from bench.workers.scenario import ContestName, HealthScenario, StrategiesScenario
from bench.workers.scenarios import HEALTH, STRATEGIES
from bench.workers.scripted_worker import Condition, ScriptedWorker, double
from fairlane.workers import CheckOutcome, Manager, ManagerConfig, WorkerError, WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.strategies.stride import StrideScheduler
from tests.bench.worlds import failed, on
from tests.support.virtual_time import VirtualClock, virtual_time


def held(scenario: StrategiesScenario, seed: int = 1) -> StrategiesMetrics:
    @virtual_time
    async def drive():
        return await drive_strategies.drive(scenario, on(None, seed), VirtualClock())

    return drive()


def troubled(scenario: HealthScenario, seed: int = 1) -> HealthMetrics:
    @virtual_time
    async def drive():
        return await drive_health.drive(scenario, on(None, seed), VirtualClock())

    return drive()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_strategies_keep_their_promises(seed):
    metrics = held(STRATEGIES, seed)
    assert failed(STRATEGIES, metrics) == []
    assert [(each.contest, each.strategy, each.seed - seed) for each in metrics.trials] == [
        ("spread", "round-robin", 0),
        ("weights", "weighted", 0),
        ("weights", "weighted", 0),
        ("weights", "weighted", 1),
        ("weights", "weighted-random", 0),
        ("weights", "weighted-random", 0),
        ("weights", "weighted-random", 1),
        ("makespan", "round-robin", 0),
        ("makespan", "least-busy", 0),
        ("slowdown", "least-busy", 0),
        ("slowdown", "least-busy-ewma", 0),
    ]


@pytest.mark.parametrize(
    ("contest", "name", "impostor", "broken"),
    [
        (ContestName.SPREAD, "round-robin", "weighted", "round-robin spreads evenly"),
        (ContestName.WEIGHTS, "weighted", "round-robin", "weighted follows the weights"),
        (ContestName.WEIGHTS, "weighted", "weighted-random", "weighted is smooth"),
        (ContestName.MAKESPAN, "least-busy", "weighted", "least-busy is done before round-robin"),
        (ContestName.SLOWDOWN, "least-busy-ewma", "least-busy", "least-busy-ewma shifts load away from a slow worker"),
    ],
)
def test_a_strategy_under_the_name_of_another_is_detected(contest, name, impostor, broken):
    contest = next(each for each in STRATEGIES.contests if each.name is contest)
    entrants = [replace(each, strategy=impostor) if each.strategy == name else each for each in contest.entrants]

    found = held(replace(STRATEGIES, contests=(replace(contest, entrants=tuple(entrants)),)))
    disguised = [
        trial.model_copy(update={"strategy": entrant.strategy})
        for trial, entrant in zip(found.trials, contest.entrants, strict=True)
    ]
    assert any(each.startswith(broken) for each in failed(STRATEGIES, StrategiesMetrics(trials=disguised)))


def test_a_weighted_start_that_ignores_the_seed_is_detected(monkeypatch):
    class Unmoved(StrideScheduler):
        def __init__(self, rng, **settings):
            super().__init__(SimpleNamespace(uniform=lambda low, high: low), **settings)

    monkeypatch.setattr("fairlane.workers.strategies.registry.StrideScheduler", Unmoved)

    (only,) = failed(STRATEGIES, held(STRATEGIES))
    assert only.startswith("the seed decides what weighted chooses")


def test_the_workers_beside_one_that_slows_down_are_unequal_in_speed_and_capacity():
    workers = next(each for each in STRATEGIES.contests if each.name is ContestName.SLOWDOWN).workers
    assert len({each.takes_ms for each in workers}) == len({each.capacity for each in workers}) == len(workers) == 3


def test_a_hanging_check_that_is_reported_as_an_error_is_detected(monkeypatch):
    check = HealthChecker._check

    async def disguised(self, member):
        outcome, detail = await check(self, member)
        return (CheckOutcome.ERROR if outcome is CheckOutcome.TIMEOUT else outcome), detail

    monkeypatch.setattr(HealthChecker, "_check", disguised)

    (only,) = failed(HEALTH, troubled(HEALTH))
    assert only.startswith("out at the threshold")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_workers_that_fail_are_taken_out_and_come_back(seed):
    metrics = troubled(HEALTH, seed)
    assert failed(HEALTH, metrics) == []
    assert {each.worker for each in metrics.health.bystanders} == {"worker-3", "worker-4"}
    assert all(each.running > 0 for each in metrics.health.outages)


@pytest.mark.parametrize("condition", [Condition.ILL, Condition.STUCK])
@virtual_time
async def test_tasks_on_a_worker_in_trouble_do_not_end(condition):
    journal = Journal()
    worker = ScriptedWorker(HEALTH.workers[0], journal, VirtualClock())
    async with Manager(WorkerGroup([worker]), ManagerConfig(health=None, supervisor=None, stop_grace_ms=0)) as manager:
        running = asyncio.create_task(manager.assign(double, 1))
        await journal.until(lambda: journal.counts[Moment.BEGUN, worker.id] == 1, 1)
        worker.trouble(condition)
        await asyncio.wait({running}, timeout=60)
        assert not running.done()
        worker.fail("its checks")
        with pytest.raises(WorkerError):
            await running
    assert journal.counts[Moment.DONE, worker.id] == 0


@virtual_time
async def test_when_every_caller_fails_the_scenario_says_why():
    given_up = HEALTH.supervisor.model_copy(update={"max_restarts": 0})
    alone = replace(HEALTH, workers=HEALTH.workers[:1], ill="worker-1", stuck="worker-1", supervisor=given_up)
    with pytest.raises(ScenarioError, match="no caller is left"):
        await drive_health.drive(alone, on(None), VirtualClock())
