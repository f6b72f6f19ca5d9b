"""The throughput scenario, driven against a real server with every role on this loop."""

from dataclasses import replace

import pytest

from bench.shared.session import ScenarioError
from bench.throughput import backlogs, decisions, drive, manual_pool, meter
from bench.throughput.scenario import THROUGHPUT
from fairlane.config import TenantConfig
from fairlane.store.store import Store
from tests.bench.worlds import keys, on
from tests.support.store_raw import command

SMALL = replace(
    THROUGHPUT,
    tenant_counts=(3, 50),
    tasks=500,
    rounds=4,
    others_every=3,
    limited_tenants=50,
    round_trips=5,
    parked_tenants=300,
    dispatch_calls=5,
    cycle_tasks=512,
    backlogs=(100, 1_000),
    backlog_calls=4,
)


async def test_throughput_reports_every_figure(platform, endpoint, monkeypatch):
    monkeypatch.setattr(drive, "_WARM_UP", 200)
    monkeypatch.setattr(drive, "_DRAINED_TASKS", 500)
    before = await keys(endpoint)
    metrics = await drive.drive(SMALL, on(platform))
    assert [each.tenants for each in metrics.loads] == [3, 50]
    for each in metrics.loads:
        assert 0 < each.median_tasks_per_s <= each.fastest_tasks_per_s
        assert 0 < each.calls_per_task <= each.most_calls_per_task < 60
        assert each.reference_tenants == 50
        assert each.commands_per_task["hset"] > 0
        assert each.events > 0
    assert (metrics.loads[1].speed_ratio, metrics.loads[1].cpu_ratio) == (1.0, 1.0)
    assert metrics.limited.tenants == 50
    assert [[*each.turns_per_s] for each in (*metrics.loads, metrics.limited)] == [[0, 3], [0, 1, 2, 3], [0, 1, 2, 3]]
    assert metrics.limited.commands_per_task["rpush"] > 0
    assert "rpush" not in metrics.loads[1].commands_per_task
    assert metrics.drained.keys_after == metrics.drained.keys_before < metrics.drained.keys_peak
    assert metrics.round_trip_ms.p50 > 0
    assert await keys(endpoint) == before


async def test_dispatch_is_timed_with_the_tenants_really_parked(platform):
    points, ratios = await decisions.dispatch_calls(SMALL, platform, lambda _: None)
    assert [(each.tenants, each.parked, each.batch) for each in points] == [
        (10, 0, 1),
        (310, 300, 1),
        (10, 0, 64),
        (310, 300, 64),
    ]
    assert all(each.calls == 5 and each.p50_us > 0 for each in points)
    assert ratios.keys() == {"1", "64"}
    assert min(ratios.values()) > 0


async def test_tenants_that_are_not_parked_cannot_be_timed_as_parked(platform, monkeypatch):
    monkeypatch.setattr(manual_pool, "TenantConfig", lambda **_: TenantConfig())
    with pytest.raises(ScenarioError, match="0 tenants are parked, not 300"):
        await decisions.dispatch_calls(SMALL, platform, lambda _: None)


async def test_queues_keep_their_length_while_calls_are_timed(platform, endpoint):
    before = await keys(endpoint)
    found = await backlogs.backlogs(SMALL, platform, lambda _: None)
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
        await pool.store.dispatch([(manual_pool.INCARNATION, 2)], 2)
        return 1, None

    monkeypatch.setattr(manual_pool.ManualPool, "time_dispatch", two_at_once)
    with pytest.raises(ScenarioError, match="92 tasks wait, not 100"):
        await backlogs.backlogs(SMALL, platform, lambda _: None)


async def test_one_schedulers_keys_are_counted_and_erased(endpoint, name):
    async with Store(endpoint, name) as store, Store(endpoint, f"{name}-other") as other:
        for each in (store, other):
            await command(each, "SET", each.keys.pool, 1)
        await store.erase()
        assert (await meter.count_keys(store), await meter.count_keys(other)) == (0, 1)
        await other.erase()


def test_a_full_run_measures_the_same_with_fewer_samples():
    brief = THROUGHPUT.brief()
    assert brief.rounds * brief.tasks < THROUGHPUT.rounds * THROUGHPUT.tasks
    assert brief.settings().keys() == THROUGHPUT.settings().keys()
    for each in ("tenant_counts", "backlogs", "batches", "parked_tenants", "checks"):
        assert getattr(brief, each) == getattr(THROUGHPUT, each)
