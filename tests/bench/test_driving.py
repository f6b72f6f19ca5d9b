"""Whole scenarios, driven against a real server with every role on this loop."""

from dataclasses import replace

import pytest

from bench.driving import backlogs, clean, decisions, hand_pool, load, races, throughput
from bench.driving.load import ScenarioError
from bench.naive import controller as naive
from bench.runner import Plan, run
from bench.scenario import ProviderLimits, Timing
from bench.scenarios.fairness import CONTENTION, FAIR
from bench.scenarios.races import RACE_CONTROLLER
from bench.scenarios.throughput import THROUGHPUT
from fairlane.config import TenantConfig
from fairlane.store.store import Store
from tests.bench.in_process import InProcessPlatform
from tests.support.store_raw import command

SHORT = Timing(run_ms=1_500, submit_until_ms=1_300, observe_from_ms=300, observe_until_ms=1_300)


def nothing(_: str) -> None:
    pass


@pytest.fixture
def platform(endpoint) -> InProcessPlatform:
    return InProcessPlatform(endpoint)


async def keys(endpoint) -> set[bytes]:
    async with Store(endpoint, "none") as store:
        return set(await command(store, "KEYS", "*"))


class Silent:
    def __init__(self):
        self.heard = []

    def starts(self, scenario):
        self.heard.append(f"starts {scenario.name}")

    def goes_on(self, what):
        pass

    def ended(self, result):
        self.heard.append(f"ended {result.name}")


async def test_a_load_scenario_is_measured_and_leaves_nothing_behind(platform, endpoint):
    before = await keys(endpoint)
    metrics = await load.drive(replace(CONTENTION, timing=SHORT), platform, seed=1, progress=nothing)
    assert set(metrics.tenants) == {"interactive", "standard", "noisy"}
    assert metrics.left_in_flight == {"slots": 0, "cost": 0}
    assert metrics.potential_orphans == []
    assert metrics.violations == []
    assert metrics.peak_reserved_slots["__global"] == 4
    assert metrics.provider_peak == 4
    assert set(metrics.workers) == {"worker-1", "worker-2"}
    assert metrics.attempt_states["completed"] > 20
    assert metrics.service_gap.largest <= metrics.service_gap.bound
    assert 0.5 < metrics.provider_occupancy < metrics.reserved_occupancy <= 1.0
    assert await keys(endpoint) == before


async def test_a_throttling_provider_shows_in_the_metrics(platform):
    throttling = replace(FAIR, timing=SHORT, provider=ProviderLimits(schedule=((0, 4), (400, 2))))
    metrics = await load.drive(throttling, platform, seed=1, progress=nothing)
    assert metrics.attempt_states["throttled"] > 0
    assert metrics.throttled_then_completed > 0
    assert metrics.left_in_flight == {"slots": 0, "cost": 0}


async def test_the_naive_controllers_both_recover(endpoint, name):
    outcome = await naive.race(endpoint.url, name, capacity=2, contenders=2)
    assert outcome == naive.NaiveOutcome(read=(2, 2), after=4)


async def test_the_race_is_reproduced_and_repaired(platform, endpoint):
    before = await keys(endpoint)
    metrics = await races.drive(RACE_CONTROLLER, platform, progress=nothing)
    assert all(check.judge(RACE_CONTROLLER, metrics).passed for check in RACE_CONTROLLER.checks)
    assert await keys(endpoint) == before


SMALL = replace(
    THROUGHPUT,
    tenant_counts=(3, 50),
    tasks=500,
    rounds=2,
    limited_tenants=50,
    round_trips=5,
    parked_tenants=300,
    dispatch_calls=5,
    cycle_tasks=512,
    backlogs=(100, 1_000),
    backlog_calls=4,
)


async def test_throughput_reports_every_figure(platform, endpoint, monkeypatch):
    monkeypatch.setattr(throughput, "_WARM_UP", 200)
    monkeypatch.setattr(throughput, "_RETENTION_MS", 1_000)
    before = await keys(endpoint)
    metrics = await throughput.drive(SMALL, platform, progress=nothing)
    assert [each.tenants for each in metrics.loads] == [3, 50]
    for each in metrics.loads:
        assert 0 < each.median_tasks_per_s <= each.fastest_tasks_per_s
        assert 0 < each.calls_per_task <= each.most_calls_per_task < 60
        assert each.reference_tenants == 50
        assert each.commands_per_task["hset"] > 0
        assert each.events > 0
    assert (metrics.loads[1].speed_ratio, metrics.loads[1].cpu_ratio) == (1.0, 1.0)
    assert metrics.limited.tenants == 50
    assert len(metrics.limited.turns_per_s) == 2
    assert metrics.limited.commands_per_task["rpush"] > 0
    assert "rpush" not in metrics.loads[1].commands_per_task
    assert metrics.drained.keys_after == metrics.drained.keys_before < metrics.drained.keys_peak
    assert metrics.round_trip_ms.p50 > 0
    assert await keys(endpoint) == before


async def test_dispatch_is_timed_with_the_tenants_really_parked(platform):
    points = await decisions.dispatch_calls(SMALL, platform, nothing)
    assert [(each.tenants, each.parked, each.batch) for each in points] == [
        (10, 0, 1),
        (310, 300, 1),
        (10, 0, 64),
        (310, 300, 64),
    ]
    assert all(each.calls == 5 and each.p50_us > 0 for each in points)


async def test_tenants_that_are_not_parked_cannot_be_timed_as_parked(platform, monkeypatch):
    monkeypatch.setattr(hand_pool, "TenantConfig", lambda **_: TenantConfig())
    with pytest.raises(ScenarioError, match="0 tenants are parked, not 300"):
        await decisions.dispatch_calls(SMALL, platform, nothing)


async def test_queues_keep_their_length_while_calls_are_timed(platform, endpoint):
    before = await keys(endpoint)
    found = await backlogs.backlogs(SMALL, platform, nothing)
    assert [(each.tenants, each.pending) for each in found] == [(3, 100), (3, 1_000), (50, 100), (50, 1_000)]
    for each in found:
        assert [(point.batch, point.calls) for point in each.calls] == [(1, 4), (64, 4)]
        assert all(point.p50_us > 0 for point in each.calls)
        assert each.ratios.keys() == {"1", "64"}
        assert min(each.ratios.values()) > 0
    assert found[0].ratios == found[2].ratios == {"1": 1.0, "64": 1.0}
    assert 50 < found[-1].bytes_per_task < 5_000
    assert await keys(endpoint) == before


async def test_a_queue_that_changes_its_length_shows_nothing(platform, monkeypatch):
    async def two_at_once(pool, batch):
        await pool.store.dispatch([(hand_pool.INCARNATION, 2)], 2)
        return 1, None

    monkeypatch.setattr(hand_pool.HandPool, "time_dispatch", two_at_once)
    with pytest.raises(ScenarioError, match="92 tasks wait, not 100"):
        await backlogs.backlogs(SMALL, platform, nothing)


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


async def test_nothing_run_is_nothing_passed(platform):
    assert not (await run(Plan([], seed=1), platform, Silent())).passed


async def test_cleaning_removes_one_schedulers_keys_only(endpoint, name):
    async with Store(endpoint, name) as store, Store(endpoint, f"{name}-other") as other:
        for each in (store, other):
            await command(each, "SET", each.keys.pool, 1)
        await clean.remove(store)
        assert await clean.count_keys(store) == 0
        assert await clean.count_keys(other) == 1
        await clean.remove(other)
