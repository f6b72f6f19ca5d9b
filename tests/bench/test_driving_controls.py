"""The scenarios about budgets, throttles and hand-overs, driven against a real server with every role on this loop."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bench.checks.handoff import KilledAtWork
from bench.driving import budget, budget_race, handoff, requeue as requeueing
from bench.driving.load import ScenarioError
from bench.naive import budget as naive_budget, handoff as naive_handoff
from bench.recorder import Recorder
from bench.scenarios.controls import BUDGET_ATOMIC, BUDGET_NAIVE, THROTTLE_REQUEUE
from bench.scenarios.races import RACE_BUDGET, RACE_HANDOFF
from fairlane.config import WindowConfig
from tests.bench.in_process import InProcessPlatform
from tests.bench.test_driving import keys, nothing

WINDOW = WindowConfig(limit=4, interval_ms=200)
KILLS = 3


class AnswersAfterTheKills(InProcessPlatform):
    """Answers the submits of a hand-over scenario only when the last dispatcher has been killed."""

    @asynccontextmanager
    async def scheduler(self, config, provider):
        async with super().scheduler(config, provider) as session:
            submit_many, kill_actor = session.submit_many, session.kill_actor
            killed: list[int] = []
            all_killed = asyncio.Event()

            async def answer_late(specs):
                answers = await submit_many(specs)
                if specs[0].tenant == handoff.TENANT:
                    await all_killed.wait()
                return answers

            async def kill(actor, pid):
                await kill_actor(actor, pid)
                killed.append(pid)
                if len(killed) == KILLS:
                    all_killed.set()

            session.submit_many, session.kill_actor = answer_late, kill
            yield session


@pytest.fixture
def platform(endpoint) -> InProcessPlatform:
    return InProcessPlatform(endpoint)


def failed(scenario, metrics) -> list[str]:
    checks = [check.judge(scenario, metrics) for check in scenario.checks]
    return [f"{each.name}: {each.observed}" for each in checks if not each.passed]


async def test_the_naive_budget_lets_everybody_through(endpoint, name):
    outcome = await naive_budget.race(endpoint.url, name, budget=200, cost=100, contenders=4)
    assert outcome == naive_budget.NaiveBudget(read=(200, 200, 200, 200), accepted=4, remaining=100)


async def test_the_naive_budget_refuses_what_it_cannot_pay_for(endpoint, name):
    outcome = await naive_budget.race(endpoint.url, name, budget=50, cost=100, contenders=4)
    assert (outcome.accepted, outcome.remaining) == (0, 50)


@pytest.mark.parametrize("scenario", [BUDGET_NAIVE, BUDGET_ATOMIC], ids=lambda each: each.name)
async def test_a_budget_scenario_keeps_its_promises(platform, endpoint, scenario):
    before = await keys(endpoint)
    short = replace(scenario, window=WINDOW)
    assert failed(short, await budget.drive(short, platform, progress=nothing)) == []
    assert await keys(endpoint) == before


async def test_the_race_for_a_budget_is_reproduced_and_repaired(platform, endpoint):
    before = await keys(endpoint)
    metrics = await budget_race.drive(RACE_BUDGET, platform, progress=nothing)
    assert failed(RACE_BUDGET, metrics) == []
    assert [(each.side, each.contenders) for each in metrics.budget_race] == [
        ("naive", 4),
        ("repaired", 4),
        ("repaired", 16),
    ]
    assert await keys(endpoint) == before


async def test_a_race_for_a_budget_with_an_event_missing_shows_nothing(platform, monkeypatch):
    read = Recorder.read
    monkeypatch.setattr(Recorder, "read", lambda self, events: read(self, [each for each in events if each.number > 1]))
    with pytest.raises(ScenarioError, match="its beginning is missing"):
        await budget_race.drive(RACE_BUDGET, platform, progress=nothing)


async def test_a_throttled_task_goes_back_to_its_place(platform, endpoint):
    before = await keys(endpoint)
    metrics = await requeueing.drive(THROTTLE_REQUEUE, platform, progress=nothing)
    assert failed(THROTTLE_REQUEUE, metrics) == []
    assert await keys(endpoint) == before


async def test_the_naive_dispatcher_leaves_an_orphan(endpoint, name):
    outcome = await naive_handoff.race(endpoint.url, name, cost=100)
    assert outcome == naive_handoff.NaiveHandoff(("task-1",), 1, 100, 0, "no slot is free", killed_by=9)


def killing(**changes):
    checks = tuple(KilledAtWork(KILLS) if isinstance(each, KilledAtWork) else each for each in RACE_HANDOFF.checks)
    return replace(RACE_HANDOFF, kills=KILLS, checks=checks, **changes)


async def test_a_dispatcher_that_ends_at_any_await_loses_nothing(platform, endpoint):
    before = await keys(endpoint)
    scenario = killing()
    metrics = await handoff.drive(scenario, platform, seed=1, progress=nothing)
    assert failed(scenario, metrics) == []
    assert await keys(endpoint) == before


async def test_tasks_whose_submit_is_answered_after_the_last_kill_are_waited_for(endpoint):
    before = await keys(endpoint)
    scenario = killing(longest_delay_ms=0, takes_ms=20)
    metrics = await handoff.drive(scenario, AnswersAfterTheKills(endpoint), seed=1, progress=nothing)
    assert failed(scenario, metrics) == []
    assert metrics.handoff.tasks == scenario.backlog
    assert await keys(endpoint) == before
