"""A run completes every scenario, and its plan varies the scenarios that allow it."""

import asyncio
from dataclasses import replace

from bench.budget.scenario import BUDGET_ATOMIC, BUDGET_NAIVE
from bench.fairness.scenarios import FAIR, SINGLE_WORKER
from bench.handoff.scenario import RACE_HANDOFF
from bench.kinds import choose
from bench.races.scenario import RACE_CONTROLLER
from bench.runner import Gate, Plan, run
from bench.throughput.scenario import THROUGHPUT
from tests.bench.budget.test_drive import WINDOW
from tests.bench.fairness.test_drive import SHORT


class Silent:
    def __init__(self):
        self.heard = []

    def progress(self, what):
        name, _, step = what.partition(": ")
        if step == "starting":
            self.heard.append(f"starts {name}")

    def ended(self, result):
        self.heard.append(f"ended {result.name}")


async def test_a_failing_scenario_is_a_failed_result_and_the_next_one_runs(platform):
    broken = replace(FAIR, name="broken", timing=SHORT, pool=FAIR.pool.model_copy(update={"cost_ceiling_units": 100}))
    audience = Silent()
    results = await run(Plan([broken, RACE_CONTROLLER], seed=1), platform, audience)
    assert [each.passed for each in results.scenarios] == [False, True]
    assert not results.passed
    (check,) = results.scenarios[0].checks
    assert "refused" in check.observed
    assert audience.heard == [
        "starts broken",
        "ended broken",
        "starts race-controller",
        "ended race-controller",
    ]


async def test_scenarios_of_a_kind_that_allows_it_run_at_the_same_time(platform):
    pair = [replace(each, window=WINDOW) for each in (BUDGET_NAIVE, BUDGET_ATOMIC)]
    audience = Silent()
    results = await run(Plan([*pair, RACE_CONTROLLER], seed=1), platform, audience)
    assert [each.name for each in results.scenarios] == ["budget-naive", "budget-atomic", "race-controller"]
    assert set(audience.heard[:2]) == {"starts budget-naive", "starts budget-atomic"}
    assert set(audience.heard[2:4]) == {"ended budget-naive", "ended budget-atomic"}


def test_no_more_run_at_the_same_time_than_their_kind_allows():
    names = [[each.name for each in batch] for batch in Plan(choose(["full"]), seed=1).batches()]
    assert [each for each in names if len(each) > 1] == [
        ["baseline", "fair"],
        ["contention", "adaptive"],
        ["budget-naive", "budget-atomic"],
    ]


async def test_clocks_start_when_all_are_ready_and_one_that_fails_is_not_waited_for(platform):
    pair = [replace(FAIR, name="broken", worker_count=0), replace(FAIR, name="good", timing=SHORT)]
    results = await run(Plan(pair, seed=1), platform, Silent())
    assert [each.name for each in results.scenarios] == ["broken", "good"]
    assert results.scenarios[0].checks[0].name == "runs to its end"
    assert results.scenarios[1].checks[0].name != "runs to its end"


async def test_the_gate_opens_when_the_last_one_has_come_or_ended():
    gate, one, other, third = Gate(3), *(replace(FAIR, name=name) for name in ("a", "b", "c"))
    waiting = asyncio.create_task(gate.come(one))
    gate.leave(other)
    gate.leave(other)
    await asyncio.sleep(0)
    assert not waiting.done()
    await gate.come(third)
    await waiting


async def test_nothing_run_is_nothing_passed(platform):
    assert not (await run(Plan([], seed=1), platform, Silent())).passed


def test_workers_change_only_where_any_number_is_allowed():
    scenarios = [FAIR, SINGLE_WORKER, RACE_HANDOFF, THROUGHPUT]
    assert [each.worker_count for each in Plan(scenarios, 1, workers=7).varied()] == [7, 1, 2, 7]
    assert Plan(scenarios, 1).varied() == scenarios
