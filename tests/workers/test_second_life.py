"""A worker that was started again: what it brings along from before, and what it does not."""

import pytest

from fairlane.workers.errors import WorkerError
from fairlane.workers.members.metrics import SMOOTHING
from tests.support.virtual_time import virtual_time
from tests.support.worker_work import double, raise_it_async, task
from tests.support.worker_workers import ScriptedWorker, managed, started, unattended


@virtual_time
async def test_its_counts_go_on_and_its_averages_begin_anew() -> None:
    [worker] = await started(ScriptedWorker("a"))
    with pytest.raises(WorkerError):
        await worker.execute(task(raise_it_async), KeyError("once"))
    assert worker.metrics.error_rate == SMOOTHING
    worker.fail("gone")
    await worker.start()
    assert (worker.metrics.failures, worker.metrics.error_rate, worker.metrics.latency_s) == (1, None, None)
    await worker.execute(task(double), 1)
    assert (worker.metrics.successes, worker.metrics.failures, worker.metrics.error_rate) == (1, 1, 0.0)


@virtual_time
async def test_after_a_crash_it_gets_as_many_tasks_as_any_other() -> None:
    a, b = ScriptedWorker("a", capacity=4), ScriptedWorker("b", capacity=4)
    async with managed(a, b, config=unattended(strategy="least-busy-ewma", retries=0)) as manager:
        for _ in range(20):
            with pytest.raises(WorkerError):
                await manager.assign(raise_it_async, KeyError("its own fault"))
        a.fail("crashed")
        await a.start()
        before = a.metrics.successes
        for number in range(200):
            await manager.assign(double, number)
        assert a.metrics.successes - before >= 90


@virtual_time
async def test_one_bad_input_does_not_keep_tasks_from_the_worker_that_met_it() -> None:
    a, b = ScriptedWorker("a", capacity=4), ScriptedWorker("b", capacity=4)
    async with managed(a, b, config=unattended(strategy="least-busy-ewma")) as manager:
        with pytest.raises(WorkerError):
            await manager.assign(raise_it_async, KeyError("bad input"))
        for number in range(1_000):
            await manager.assign(double, number)
    assert min(a.metrics.successes, b.metrics.successes) >= 400
