"""The virtual time of the tests."""

import asyncio
import threading

import pytest

from tests.support import virtual_time as module
from tests.support.virtual_time import VirtualClock, now_s, settle, virtual_time


@virtual_time
async def test_an_hour_passes_at_once_and_sums_are_exact() -> None:
    clock = VirtualClock()
    for _ in range(10):
        await asyncio.sleep(0.1)
    assert clock.monotonic_s() == 1.0
    await asyncio.sleep(3_599)
    assert now_s() == 3_600.0
    assert clock.wall_s() == module.EPOCH_S + 3_600


@virtual_time
async def test_the_last_bit_of_a_wait_passes_too() -> None:
    for until_s in (0.1 + 0.2, 1.0 + 1e-10):
        while (rest_s := until_s - now_s()) > 0:
            await asyncio.sleep(rest_s)


@virtual_time
async def test_no_time_passes_while_anything_is_ready() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1e-6):
            await asyncio.sleep(1e-5)
    async with asyncio.timeout(1e-6):
        for _ in range(1_000):
            await asyncio.sleep(0)


@virtual_time
async def test_settle_runs_everything_that_is_ready_without_passing_time() -> None:
    steps: list[int] = []

    async def walk() -> None:
        for step in range(20):
            await asyncio.sleep(0)
            steps.append(step)
        await asyncio.sleep(1)
        steps.append(-1)

    walking = asyncio.create_task(walk())
    await asyncio.gather(settle(), settle())
    assert (steps, now_s()) == (list(range(20)), 0.0)
    await walking
    assert (steps[-1], now_s()) == (-1, 1.0)


@virtual_time
async def test_a_call_from_a_thread_wakes_the_loop_without_a_timer() -> None:
    done = asyncio.Event()
    thread = threading.Thread(target=asyncio.get_running_loop().call_soon_threadsafe, args=(done.set,))
    thread.start()
    await done.wait()
    thread.join()
    assert now_s() == 0.0


def test_a_test_that_hangs_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STUCK_S", 0.01)

    @virtual_time
    async def hang() -> None:
        await asyncio.Event().wait()

    with pytest.raises(AssertionError, match="hangs"):
        hang()


@pytest.mark.parametrize("seconds", [1, 2])
@virtual_time
async def test_parameters_reach_the_test(seconds: int) -> None:
    await asyncio.sleep(seconds)
    assert now_s() == seconds
