"""The budget scenarios, driven against a real server with every role on this loop."""

from dataclasses import replace

import pytest

from bench.budget import naive
from bench.budget.checks import URGENT_START_FIRST
from bench.budget.drive import drive, drive_race
from bench.budget.scenario import BUDGET_ATOMIC, BUDGET_NAIVE, RACE_BUDGET
from bench.shared.recorder import Recorder
from bench.shared.session import ScenarioError
from fairlane.config import WindowConfig
from tests.bench.budget.figures import both
from tests.bench.worlds import failed, keys, on

WINDOW = WindowConfig(limit=4, interval_ms=200)


async def test_the_naive_budget_admits_every_contender(endpoint, name):
    outcome = await naive.race(endpoint.url, name, budget=200, cost=100, contenders=4)
    assert outcome == naive.NaiveBudget(read=(200, 200, 200, 200), accepted=4, remaining=100)


async def test_the_naive_budget_refuses_tasks_that_it_cannot_pay_for(endpoint, name):
    outcome = await naive.race(endpoint.url, name, budget=50, cost=100, contenders=4)
    assert (outcome.accepted, outcome.remaining) == (0, 50)


@pytest.mark.parametrize("scenario", [BUDGET_NAIVE, BUDGET_ATOMIC], ids=lambda each: each.name)
async def test_a_budget_scenario_keeps_its_promises(platform, endpoint, scenario):
    before = await keys(endpoint)
    short = replace(scenario, window=WINDOW)
    assert failed(short, await drive(short, on(platform))) == []
    assert await keys(endpoint) == before


async def test_the_race_for_a_budget_is_reproduced_and_repaired(platform, endpoint):
    before = await keys(endpoint)
    metrics = await drive_race(RACE_BUDGET, on(platform))
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
        await drive_race(RACE_BUDGET, on(platform))


def test_tasks_that_started_too_early_read_as_text():
    check = URGENT_START_FIRST.judge(BUDGET_ATOMIC, both(too_early=["a:t", "a:u"], overtook=["a:t"]))
    assert check.observed["without a window"] == "a:t, a:u (its worker asked sooner)"
