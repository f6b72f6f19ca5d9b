"""A checker and a supervisor together, while members fail, hang, are stopped, started, removed and added at any moment.

Whatever happens, no member is checked twice at once, no member outside the group is touched, every member that may be
restarted is, and no task is left running.
"""

import asyncio
import contextlib
import random
from dataclasses import dataclass, field

import pytest

from fairlane.workers import (
    HealthChecker,
    HealthConfig,
    MemberEvent,
    MemberEventKind,
    Supervisor,
    SupervisorConfig,
    SupervisorEvent,
    SupervisorEventKind,
    WorkerError,
    WorkerGroup,
    WorkerHealth,
    WorkerStatus,
)
from tests.support.virtual_time import VirtualClock, now_s, virtual_time
from tests.support.worker_members import ScriptedMember, hang, ignore_cancellation

HEALTH = HealthConfig(interval_ms=300, jitter=0.5, timeout_ms=200, failure_threshold=2, success_threshold=2)
SUPERVISOR = SupervisorConfig(
    backoff_base_ms=50, backoff_cap_ms=400, max_restarts=6, window_ms=2_000, start_timeout_ms=250
)
TROUBLES = ("fail", "fail", "stop", "start", "remove", "add", "rest")


class Moody(ScriptedMember):
    """Takes its time, raises, hangs and ignores cancellations by chance, until it is calmed down."""

    def __init__(self, worker_id: str, chance: random.Random) -> None:
        super().__init__(worker_id)
        self.chance = chance
        self.calm = False
        self.checks_under_way = 0
        self.most_checks = 0

    async def _start(self) -> None:
        self.started_s.append(now_s())
        await self._mood()

    async def _stop(self) -> None:
        await asyncio.sleep(0 if self.calm else self.chance.choice([0, 0.05]))

    async def _check(self) -> WorkerHealth:
        self.checked_s.append(now_s())
        self.checks_under_way += 1
        self.most_checks = max(self.most_checks, self.checks_under_way)
        try:
            await self._mood()
        finally:
            self.checks_under_way -= 1
        return WorkerHealth(healthy=self.calm or self.chance.random() < 0.8)

    async def _mood(self) -> None:
        if self.calm:
            return
        match self.chance.choice(["quick", "quick", "quick", "slow", "error", "cancelled", "stuck", "stubborn"]):
            case "slow":
                await asyncio.sleep(0.1)
            case "error":
                raise OSError("in a bad mood")
            case "cancelled":
                raise asyncio.CancelledError
            case "stuck":
                await hang()
            case "stubborn":
                end = asyncio.Event()
                asyncio.get_running_loop().call_later(1, end.set)
                await ignore_cancellation(end)()


@dataclass
class World:
    """Who is in the group, who is not, and who is only on its way out since its removal was cancelled."""

    chance: random.Random
    gone: list[Moody]
    group: WorkerGroup[Moody] = field(default_factory=WorkerGroup)
    leaving: set[Moody] = field(default_factory=set)

    async def trouble(self, kind: str) -> None:
        if kind == "add":
            if self.gone:
                self.group.add(self.gone.pop(self.chance.randrange(len(self.gone))))
            return
        if not self.group:
            return
        member = self.chance.choice(self.group.list())
        with contextlib.suppress(WorkerError, TimeoutError):
            match kind:
                case "fail":
                    member.fail("the storm")
                case "stop":
                    await member.stop()
                case "start" if member not in self.leaving:
                    async with asyncio.timeout(0.5):
                        await member.start()
                case "remove":
                    await self._remove(member)

    async def _remove(self, member: Moody) -> None:
        self.leaving.add(member)
        await self.group.remove(member.id)
        if member in self.leaving:
            self.leaving.discard(member)
            self.gone.append(member)


@pytest.mark.parametrize("seed", range(40))
@virtual_time
async def test_whatever_happens_all_come_back_that_may_and_nothing_goes_on(seed: int) -> None:
    chance = random.Random(seed)
    everybody = tuple(Moody(f"w{number}", chance) for number in range(4))
    world = World(chance, list(everybody))
    group = world.group
    given_up: set[str] = set()

    def see(event: SupervisorEvent) -> None:
        assert event.worker_id in group
        assert event.worker_id not in given_up
        if event.kind is SupervisorEventKind.GAVE_UP:
            given_up.add(event.worker_id)

    def forget(event: MemberEvent) -> None:
        if event.kind is MemberEventKind.REMOVED:
            given_up.discard(event.member.id)

    group.subscribe(forget)
    supervisor = Supervisor(group, SUPERVISOR, clock=VirtualClock(), rng=chance, observer=see)
    checker = HealthChecker(group, HEALTH, clock=VirtualClock(), rng=chance)
    async with supervisor, checker:
        troubles = []
        for _ in range(60):
            troubles.append(asyncio.create_task(world.trouble(chance.choice(TROUBLES))))
            if chance.random() < 0.1:
                chance.choice(troubles).cancel()
            for _ in range(chance.randrange(5)):
                await asyncio.sleep(0)
            if chance.random() < 0.4:
                await asyncio.sleep(chance.choice([0.01, 0.1, 0.5]))
        for member in everybody:
            member.calm = True
        await asyncio.gather(*troubles, return_exceptions=True)
        assert {member.status for member in world.gone} <= {WorkerStatus.STOPPED, WorkerStatus.CREATED}
        for member in world.gone:
            await member.start()
            member.fail("outside")
        untouched = [(member.started_s.copy(), member.checked_s.copy()) for member in world.gone]
        await asyncio.sleep(30)
        for member in group:
            assert not supervisor.will_restart(member.id)
            assert member.status is not WorkerStatus.FAILED or member.id in given_up
            if member.status is WorkerStatus.READY:
                assert now_s() - member.checked_s[-1] < 0.5
                assert group.accepts_tasks(member.id) or member in world.leaving
        assert untouched == [(member.started_s, member.checked_s) for member in world.gone]
        assert all(member.status is WorkerStatus.FAILED for member in world.gone)
        assert all(member.most_checks <= 1 for member in everybody)
    assert asyncio.all_tasks() == {asyncio.current_task()}
