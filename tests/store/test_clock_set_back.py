"""The server's clock is set back, or ahead for a moment: what is timed continues, and the step is in the events."""

import pytest

from fairlane.domain.events import ClockRow
from fairlane.domain.task import TaskState
from tests.support.store_world import World, task, tasks

LEASE_MS = 10_000
HOUR_MS = 3_600_000


async def pool_time(world: World) -> int:
    return (await world.pool_view()).now_ms


@pytest.mark.parametrize("ahead_first", [False, True], ids=["a minute back", "an hour ahead for 2 s"])
async def test_a_pause_a_backoff_and_a_deadline_end_as_if_nothing_had_happened(world: World, ahead_first: bool) -> None:
    await world.ready(lease_ms=LEASE_MS)
    started, other = await world.active(*tasks(2))
    if ahead_first:
        world.now += HOUR_MS
        await world.submit(task("meanwhile"))
        world.now += 2_000 - HOUR_MS
    await world.throttle(started, 100)
    await world.submit(task("dated", deadline_ms=300))
    if not ahead_first:
        world.now -= 60_000
    await world.store.heartbeat("w1")
    assert (await world.dispatch()).stop == "paused"
    for _ in range(4):
        world.now += 100
        await world.dispatch(0)
    assert await world.state("dated") is TaskState.EXPIRED
    answer = await world.dispatch()
    assert answer.placed >= 1, answer.stop
    (row,) = await world.rows("clock")
    assert isinstance(row, ClockRow)
    assert row.back_ms == (HOUR_MS - 2_000 if ahead_first else 60_000)
    await world.settle(other)


async def test_no_lease_ends_early_and_a_lost_worker_s_ends_in_time(world: World) -> None:
    await world.ready(lease_ms=LEASE_MS)
    await world.active(task("t"))
    world.now -= 60_000
    assert (await world.store.reap()).incarnations == ()
    for _ in range(6):  # a margin and the slower time included
        world.now += LEASE_MS // 4
        found = await world.store.reap()
        if found.incarnations:
            break
    assert found.incarnations == ("w1",)
    assert 0 < found.offset_ms <= 60_000


async def test_the_pool_s_time_comes_back_to_the_server_s_and_never_goes_back(world: World) -> None:
    await world.ready(lease_ms=LEASE_MS)
    world.now -= 4_000
    await world.store.heartbeat("w1")
    before = await pool_time(world)
    for _ in range(90):
        world.now += 400
        await world.store.heartbeat("w1")
        now = await pool_time(world)
        assert before + 300 <= now <= before + 400
        before = now
    assert before == world.now
    assert len(await world.rows("clock")) == 1


async def test_a_small_step_is_waited_for(world: World) -> None:
    await world.ready(lease_ms=LEASE_MS)
    before = await pool_time(world)
    world.now -= LEASE_MS // 4
    await world.store.heartbeat("w1")
    assert await pool_time(world) == before
    world.now += LEASE_MS // 4 + 5
    await world.store.heartbeat("w1")
    assert await pool_time(world) == before + 5
    assert await world.rows("clock") == []


async def test_whoever_only_waits_lets_time_continue(world: World) -> None:
    """Without a role, nothing else would write the new offset."""
    await world.ready(lease_ms=LEASE_MS)
    await world.submit(task("dated", deadline_ms=100))
    world.now -= 60_000
    assert await world.store.fire() == 0
    world.now += 150
    assert await world.store.fire() == 1
    assert await world.state("dated") is TaskState.EXPIRED
