"""Ray actors as workers of a group: they keep the promises of every transport, and die like processes."""

import asyncio
import contextlib
import os
import signal
import threading

import pytest
import ray

from fairlane import RayWorker
from fairlane.workers import Manager, ManagerConfig, WorkerError, WorkerErrorCode, WorkerGroup, WorkerStatus
from tests.support.worker_work import double, meet, meet_in_thread, process_id, task
from tests.workers.test_worker_contract import *  # noqa: F403 - the suite itself, run with the fixture below
from tests.workers.test_worker_contract import until

pytestmark = pytest.mark.ray


@pytest.fixture
async def worker(platform):
    worker = RayWorker("w", capacity=2)
    yield worker
    await worker.stop()


async def test_it_needs_ray(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(WorkerError, match=r"worker w did not start: Ray is not connected.*Platform") as error:
        await RayWorker("w").start()
    assert error.value.code is WorkerErrorCode.WORKER_START_FAILED


@pytest.mark.parametrize("bad", [{"num_cpus": -1}, {"num_gpus": "1"}, {"resources": 5}, {"start_timeout_s": 0}])
def test_needs_that_cannot_be_met_anywhere_are_refused(bad):
    [field] = bad
    with pytest.raises(WorkerError, match=f"{field} = ") as error:
        RayWorker("w", **bad)
    assert error.value.code is WorkerErrorCode.INVALID_CONFIGURATION


async def test_an_actor_that_finds_no_room_is_a_failed_start(platform):
    worker = RayWorker("w", resources={"no-such": 1}, start_timeout_s=0.5)
    with pytest.raises(WorkerError, match=r"within 0\.5 s: .*no-such") as error:
        await worker.start()
    assert error.value.code is WorkerErrorCode.WORKER_START_FAILED
    await worker.stop()


async def test_work_need_not_be_importable_and_results_may_be_large(ready):
    here = os.getpid()
    assert await ready.execute(task(lambda value: value + here), 1) == here + 1
    assert await ready.execute(task(process_id), None) == ready.pid != here
    size = 20 * 2**20
    assert len(await ready.execute(task(lambda data: data * 2), b"x" * size)) == 2 * size


async def test_work_that_does_not_pickle_is_refused(ready):
    with pytest.raises(WorkerError, match="cannot be sent to worker w") as error:
        await ready.execute(task(lambda _: None), threading.Lock())
    assert error.value.code is WorkerErrorCode.INVALID_CONFIGURATION
    assert ready.load == 0


@pytest.mark.fault
async def test_tasks_of_a_killed_actor_are_lost_at_once_and_it_can_start_again(ready, meeting):
    calls = [asyncio.create_task(ready.execute(task(work), meeting.address)) for work in (meet, meet_in_thread)]
    for _ in calls:
        await meeting.guest()
    before = ready.pid
    os.kill(before, signal.SIGKILL)
    async with asyncio.timeout(5):
        await asyncio.wait(calls)
    assert [call.exception().code for call in calls] == [WorkerErrorCode.WORKER_LOST] * 2
    assert ready.status is WorkerStatus.FAILED
    await until(ready, lambda member: member.load == 0)
    await ready.start()
    assert await ready.execute(task(double), 21) == 42
    assert ready.pid != before


@pytest.mark.fault
async def test_an_idle_actor_that_is_killed_is_noticed(ready):
    os.kill(ready.pid, signal.SIGKILL)
    await until(ready, lambda member: member.status is WorkerStatus.FAILED)


@pytest.mark.fault
async def test_a_manager_retries_elsewhere_and_restarts_a_killed_or_hung_actor(platform, meeting):
    workers = [RayWorker(f"w-{number}", capacity=2) for number in range(2)]
    config = ManagerConfig.model_validate(
        {"health": {"interval_ms": 100, "timeout_ms": 300}, "supervisor": {"backoff_base_ms": 10}}
    )
    pool = WorkerGroup(workers)
    async with Manager(pool, config) as manager:
        for signum in (signal.SIGKILL, signal.SIGSTOP):
            calls = [asyncio.create_task(manager.assign(meet, meeting.address)) for _ in range(2)]
            guests = [await meeting.guest() for _ in calls]
            victim = next(worker for worker in workers if worker.load)
            pid, lost = victim.pid, victim.load
            os.kill(pid, signum)
            try:
                guests += [await meeting.guest() for _ in range(lost)]
                for guest in guests:
                    guest.release()
                assert await asyncio.gather(*calls) == ["met", "met"]
                await until(victim, lambda member: member.status is WorkerStatus.READY)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            assert victim.pid != pid
            assert await manager.assign(double, 21) == 42
    assert {worker.load for worker in workers} == {0}
