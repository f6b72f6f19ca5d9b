"""Storms: failures, cancellations, deadlines, removals, additions and the end itself, in any order and at any moment.

Whatever happens, every assign ends exactly once, every task's status matches its caller's outcome, every slot is freed,
and no task is left running.
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint

from fairlane.telemetry import Telemetry
from fairlane.workers import (
    HealthConfig,
    Manager,
    ManagerConfig,
    SupervisorConfig,
    Task,
    TaskStatus,
    WorkerError,
    WorkerErrorCode,
    WorkerGroup,
    strategy_names,
)
from tests.support.virtual_time import VirtualClock, settle, virtual_time
from tests.support.worker_workers import ScriptedWorker, new_task

RETRIES = 2
STATUS_OF = {
    "completed": TaskStatus.COMPLETED,
    "cancelled": TaskStatus.CANCELLED,
    WorkerErrorCode.TASK_CANCELLED: TaskStatus.CANCELLED,
}
TROUBLES = ("fail", "fail", "remove", "remove at once", "add", "add broken", "capacity", "unhealthy", "healthy", "rest")


@dataclass
class Storm:
    """One run, made from a seed."""

    chance: random.Random
    manager: Manager
    group: WorkerGroup[ScriptedWorker]
    workers: list[ScriptedWorker] = field(default_factory=list)
    tasks: list[Task[int, int]] = field(default_factory=list)
    ended: Counter[str] = field(default_factory=Counter)
    finished: Counter[str] = field(default_factory=Counter)

    def add_worker(self, *start_errors: Exception) -> None:
        worker = ScriptedWorker(f"w{len(self.workers)}", capacity=self.chance.randint(1, 3))
        worker.start_errors += start_errors
        self.workers.append(worker)
        self.group.add(worker)

    def _work_of(self, task_id: str):
        async def work(value: int) -> int:
            await asyncio.sleep(self.chance.choice([0, 0.1, 0.5, 2]))
            match self.chance.randrange(8):
                case 0:
                    raise ConnectionError("may pass")
                case 1:
                    raise ValueError("is final")
                case 2:
                    raise asyncio.CancelledError
            self.finished[task_id] += 1
            return value

        return work

    async def caller(self, number: int) -> None:
        """Assign one task, and check its outcome."""
        task = new_task(self._work_of(f"t{number}"), f"t{number}")
        self.tasks.append(task)
        outcome = "nothing"
        try:
            timeout_s = self.chance.choice([None, None, 0.3, 1.5, 4])
            assert await self.manager.assign(task, number, timeout_s=timeout_s) == number
            outcome = "completed"
        except WorkerError as error:
            outcome = error.code
        except asyncio.CancelledError:
            outcome = "cancelled"
        finally:
            self.ended[task.id] += 1
            assert task.status is STATUS_OF.get(outcome, TaskStatus.FAILED), (task.id, outcome)
            assert task.metadata.attempts <= RETRIES + 1

    async def trouble(self, kind: str) -> None:
        member = self.chance.choice(self.group.list()) if len(self.group) else None
        if kind == "add" or member is None:
            self.add_worker()
        elif kind == "add broken":
            self.add_worker(*(OSError("no room") for _ in range(self.chance.randint(1, 5))))
        elif kind == "fail":
            member.fail("the storm")
        elif kind == "remove":
            await self.group.remove(member.id)
        elif kind == "remove at once":
            await self.group.remove(member.id, grace_s=self.chance.choice([0, 0.2]))
        elif kind == "capacity":
            self.group.update(member.id, capacity=self.chance.randint(1, 4))
        elif kind in {"healthy", "unhealthy"}:
            member.healthy = kind == "healthy"

    def calm_down(self) -> None:
        """Make all workers healthy, so that no caller waits for one that never recovers."""
        for worker in self.workers:
            worker.healthy = True

    async def blow(self, callers: int) -> list["asyncio.Task[None]"]:
        """Let callers come and go among troubles."""
        running: list[asyncio.Task[None]] = []
        troubles: list[asyncio.Task[None]] = []
        for number in range(callers):
            running.append(asyncio.create_task(self.caller(number)))
            if self.chance.random() < 0.3:
                troubles.append(asyncio.create_task(self.trouble(self.chance.choice(TROUBLES))))
            if self.chance.random() < 0.2:
                self.chance.choice(running).cancel()
            if self.chance.random() < 0.1 and troubles:
                self.chance.choice(troubles).cancel()
            for _ in range(self.chance.randrange(4)):
                await asyncio.sleep(0)
            if self.chance.random() < 0.3:
                await asyncio.sleep(self.chance.choice([0.05, 0.3, 1]))
        await asyncio.gather(*troubles, return_exceptions=True)
        return running


def _sums(reader: InMemoryMetricReader) -> Counter[str]:
    """Gauges and counters by name, summed over attributes."""
    sums: Counter[str] = Counter()
    data = reader.get_metrics_data()
    for resource in data.resource_metrics if data else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    if isinstance(point, NumberDataPoint):
                        sums[metric.name] += int(point.value)
    return sums


@pytest.mark.parametrize("end", ["after all callers", "in the middle"])
@pytest.mark.parametrize("seed", range(25))
@virtual_time
async def test_whatever_happens_every_assign_ends_once_and_every_slot_comes_back(seed: int, end: str) -> None:
    chance = random.Random(seed)
    reader = InMemoryMetricReader()
    config = ManagerConfig(
        strategy=chance.choice(strategy_names()),
        retries=RETRIES,
        queue_limit=chance.choice([0, 3, 1_000]),
        attempt_timeout_ms=chance.choice([None, 1_000]),
        stop_grace_ms=chance.choice([0, 500, 10_000]),
        health=HealthConfig(interval_ms=300, failure_threshold=2),
        supervisor=SupervisorConfig(max_restarts=chance.choice([0, 2, 100])),
    )
    group: WorkerGroup[ScriptedWorker] = WorkerGroup()
    manager = Manager(
        group,
        config,
        retry_on=(ConnectionError,),
        clock=VirtualClock(),
        rng=chance,
        telemetry=Telemetry(MeterProvider([reader])),
    )
    storm = Storm(chance, manager, group)
    for _ in range(chance.randint(1, 4)):
        storm.add_worker()
    async with asyncio.timeout(3_600), manager:
        callers = await storm.blow(60)
        if end == "after all callers":
            storm.calm_down()
            await asyncio.gather(*callers, return_exceptions=True)
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [result for result in results if isinstance(result, AssertionError)] == []
    await settle()
    assert {task.id: 1 for task in storm.tasks} == storm.ended
    assert all(count <= RETRIES + 1 for count in storm.finished.values())
    assert {worker.id: worker.load for worker in storm.workers if worker.load} == {}
    sums = _sums(reader)
    assert (sums["fairlane.workers.waiting"], sums["fairlane.workers.tasks"]) == (0, len(storm.tasks))
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("strategy", strategy_names())
@pytest.mark.parametrize("seed", range(5))
@virtual_time
async def test_first_attempts_begin_in_the_order_of_their_assigns(seed: int, strategy: str) -> None:
    chance = random.Random(seed)
    begun: list[int] = []

    async def work(number: int) -> None:
        begun.append(number)
        await asyncio.sleep(chance.choice([0, 0.1, 1]))

    workers = [ScriptedWorker(f"w{n}", capacity=chance.randint(1, 3)) for n in range(3)]
    config = ManagerConfig(strategy=strategy, health=None, supervisor=None)
    async with Manager(WorkerGroup(workers), config, clock=VirtualClock(), rng=chance) as manager:
        callers = []
        for number in range(80):
            callers.append(asyncio.create_task(manager.assign(work, number, timeout_s=chance.choice([None, 0.5, 2]))))
            if chance.random() < 0.3:
                chance.choice(callers).cancel()
            if chance.random() < 0.3:
                await asyncio.sleep(chance.choice([0, 0.2]))
        await asyncio.gather(*callers, return_exceptions=True)
    assert begun == sorted(set(begun))
    assert len(begun) > 20
