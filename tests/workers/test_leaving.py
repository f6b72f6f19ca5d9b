"""A worker whose removal has begun and takes long: nobody waits for it or cares for it any more."""

import asyncio
from collections.abc import Callable

import pytest

from fairlane.config.workers import SupervisorConfig
from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.manager import Manager
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member
from fairlane.workers.members.status import WorkerStatus
from tests.support.virtual_time import VirtualClock, settle, virtual_time
from tests.support.worker_members import ScriptedMember
from tests.support.worker_supervised import CONFIG, GAVE_UP, RESTARTED, Supervised, failed
from tests.support.worker_workers import ScriptedWorker, double, unattended


@virtual_time
async def test_all_who_wait_are_told_at_once_although_its_slot_is_kept() -> None:
    worker = ScriptedWorker("a", capacity=2)
    group = WorkerGroup([worker])
    config = unattended(supervisor=SupervisorConfig())
    async with Manager(group, config, clock=VirtualClock()) as manager:
        worker._change_load(1)  # as work does that nobody can end
        worker.fail("gone")
        waiting = asyncio.create_task(manager.assign(double, 1))
        await settle()
        assert not waiting.done()
        removal = asyncio.create_task(group.remove("a"))
        await settle()
        with pytest.raises(WorkerError) as raised:
            await waiting
        assert raised.value.code is WorkerErrorCode.NO_WORKERS_AVAILABLE
        assert (removal.done(), worker.status) == (False, WorkerStatus.FAILED)
        worker._change_load(-1)
        await removal


class Watched(ScriptedMember):
    """Counts how often somebody begins to watch it."""

    watches = 0

    def watch(self, watcher: Callable[[Member], None]) -> Callable[[], None]:
        self.watches += 1
        return super().watch(watcher)


@virtual_time
async def test_its_supervisor_does_nothing_while_it_leaves() -> None:
    member = Watched()
    world = Supervised(member, config=SupervisorConfig(backoff_base_ms=0))
    await failed(member)
    member._change_load(1)
    async with world.supervisor:
        removal = asyncio.create_task(world.group.remove("w"))
        await settle()
        watches = member.watches
        await asyncio.sleep(100)
        assert (member.status, member.started_s, member.watches) == (WorkerStatus.FAILED, [], watches)
        member._change_load(-1)
        await removal
    assert world.events == []


class Reluctant(ScriptedMember):
    """Cannot be drained."""

    async def drain(self) -> None:
        await asyncio.sleep(10)
        raise OSError("cannot drain")


@virtual_time
async def test_one_whose_removal_fails_is_cared_for_again() -> None:
    member = Reluctant()
    world = Supervised(member)
    await failed(member)
    async with world.supervisor:
        with pytest.raises(OSError, match="cannot drain"):
            await world.group.remove("w")
        assert member.started_s == []
        await asyncio.sleep(10)
        assert (member.status, world.told()) == (WorkerStatus.READY, [(RESTARTED, 11, 1)])


@virtual_time
async def test_one_that_was_given_up_stays_so_when_its_removal_fails() -> None:
    member = Reluctant()
    world = Supervised(member, config=CONFIG.model_copy(update={"max_restarts": 0}))
    await failed(member)
    async with world.supervisor:
        await settle()
        with pytest.raises(OSError, match="cannot drain"):
            await world.group.remove("w")
        await asyncio.sleep(100)
        assert not world.supervisor.will_restart("w")
    assert [event.kind for event in world.events] == [GAVE_UP]
