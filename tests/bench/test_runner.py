"""A run completes every scenario, and its plan varies the scenarios that allow it."""

from dataclasses import replace

from bench.fairness.scenarios import FAIR, SINGLE_WORKER
from bench.handoff.scenario import RACE_HANDOFF
from bench.kinds import choose
from bench.races.scenario import RACE_CONTROLLER
from bench.runner import Plan, run
from bench.throughput.scenario import THROUGHPUT
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
    pair = [replace(FAIR, name=name, timing=SHORT) for name in ("one", "other")]
    audience = Silent()
    results = await run(Plan([*pair, RACE_CONTROLLER], seed=1), platform, audience)
    assert [each.name for each in results.scenarios] == ["one", "other", "race-controller"]
    assert set(audience.heard[:2]) == {"starts one", "starts other"}
    assert set(audience.heard[2:4]) == {"ended one", "ended other"}


def test_no_more_run_at_the_same_time_than_their_kind_allows():
    names = [[each.name for each in batch] for batch in Plan(choose(["full"]), seed=1).batches()]
    assert names[:4] == [
        ["baseline", "fair", "contention"],
        ["adaptive", "single-worker"],
        ["budget-naive", "budget-atomic"],
        ["throttle-requeue"],
    ]
    assert all(len(each) == 1 for each in names[3:])


async def test_nothing_run_is_nothing_passed(platform):
    assert not (await run(Plan([], seed=1), platform, Silent())).passed


def test_workers_change_only_where_any_number_is_allowed():
    scenarios = [FAIR, SINGLE_WORKER, RACE_HANDOFF, THROUGHPUT]
    assert [each.worker_count for each in Plan(scenarios, 1, workers=7).varied()] == [7, 1, 2, 7]
    assert Plan(scenarios, 1).varied() == scenarios
