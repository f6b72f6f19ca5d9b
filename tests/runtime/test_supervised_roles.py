"""Dispatcher and controller are supervised like workers: a silent or ended one is replaced, however often."""

import asyncio
import random
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from ray import exceptions

from fairlane.config import WorkerHealthConfig, WorkerSupervisorConfig
from fairlane.embedded.processes import ProcessId
from fairlane.run import RoleReport
from fairlane.runtime.actor_member import ActorMember
from fairlane.runtime.ray_actors import ActorProcess
from fairlane.runtime.supervision import Supervision
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import WorkerInfo
from tests.support.virtual_time import now_s, virtual_time

HEALTH = WorkerHealthConfig(interval_ms=1_000, jitter=0, timeout_ms=2_000, failure_threshold=3)
UNLIMITED = WorkerSupervisorConfig(start_timeout_ms=60_000, max_restarts=1_000_000)
RESTART_TIMEOUT_S = 48.0


class Method:
    """Stands in for a method of Ray's handle."""

    def __init__(self, function):
        self.remote = function


class Actor:
    """Stands in for Ray's handle of an actor that answers, unless it hangs, has died, or starts slowly."""

    def __init__(self, starts_in_s: float) -> None:
        self.hangs = False
        self.died = False
        self.asked = 0
        self.begun_s = now_s()
        self.killed_s = None
        self._starts_in_s = starts_in_s
        self.startup_error = Method(self._startup_error)
        self.process = Method(self._process)
        self.health = Method(self._health)
        self.stop_now = Method(self._health)

    async def _startup_error(self, _timeout_s):
        await asyncio.sleep(self._starts_in_s)
        return ""

    async def _process(self):
        return ActorProcess(ProcessId(1, ""), "elsewhere")

    async def _health(self):
        if self.died or self.killed_s is not None:
            raise exceptions.ActorDiedError
        self.asked += 1
        if self.hangs:
            await asyncio.Event().wait()
        return RoleReport()

    def kill(self) -> None:
        self.killed_s = now_s()


@pytest.fixture(autouse=True)
def connected(monkeypatch):
    monkeypatch.setattr("ray.is_initialized", lambda: True)
    monkeypatch.setattr("ray.get_runtime_context", lambda: SimpleNamespace(get_node_id=lambda: "here"))
    monkeypatch.setattr("ray.kill", lambda actor, no_restart: actor.kill())


class Supervised:
    """A role and all the actors that it has had."""

    def __init__(self, name: str) -> None:
        self.actors = []
        self.starts_in_s = 1.0
        info = WorkerInfo.of(id=name, kind=name, capacity=1)
        timeouts = {"start_timeout_s": 60.0, "restart_timeout_s": RESTART_TIMEOUT_S, "silent_s": 5.0}
        self.member = ActorMember(info, self._spawn, **timeouts)

    @property
    def actor(self) -> Actor:
        return self.actors[-1]

    def _spawn(self, earlier: int) -> Actor:
        assert earlier == len(self.actors)
        self.actors.append(Actor(self.starts_in_s))
        return self.actor


@asynccontextmanager
async def supervised():
    dispatcher, controller = Supervised("dispatcher"), Supervised("controller")
    await asyncio.gather(dispatcher.member.start(), controller.member.start())
    group = WorkerGroup([dispatcher.member, controller.member])
    async with Supervision(group, None, HEALTH, UNLIMITED, rng=random.Random(1)):
        yield dispatcher, controller


@virtual_time
async def test_a_silent_role_is_replaced_once_and_the_other_is_not():
    async with supervised() as (dispatcher, controller):
        await asyncio.sleep(10.5)
        begun_s = now_s()
        dispatcher.actor.hangs = True
        await asyncio.sleep(100)
        first, second = dispatcher.actors
        assert 3 * 2 <= first.killed_s - begun_s <= 3 * 3 + 1
        assert second.begun_s >= first.killed_s
        assert second.asked > 50
        second.hangs = True
        await asyncio.sleep(20)
        assert len(dispatcher.actors) == 3
        assert len(controller.actors) == 1


@virtual_time
async def test_one_answer_resets_the_count_of_missed_answers():
    async with supervised() as (dispatcher, _):
        for _ in range(10):
            dispatcher.actor.hangs = True
            await asyncio.sleep(2 * 3)
            dispatcher.actor.hangs = False
            await asyncio.sleep(3)
        assert len(dispatcher.actors) == 1


@virtual_time
async def test_a_role_is_replaced_each_time_its_process_ends():
    async with supervised() as (dispatcher, controller):
        for deaths in range(1, 200):
            dispatcher.actor.died = True
            await asyncio.sleep(6)
            assert len(dispatcher.actors) == deaths + 1
            assert not dispatcher.actor.died
        assert len(controller.actors) == 1


@virtual_time
async def test_a_restarted_role_gets_the_restart_timeout_to_become_ready():
    async with supervised() as (dispatcher, _):
        dispatcher.starts_in_s = RESTART_TIMEOUT_S - 1
        dispatcher.actor.died = True
        await asyncio.sleep(3 + RESTART_TIMEOUT_S)
        assert len(dispatcher.actors) == 2
        assert dispatcher.actor.asked > 0
        dispatcher.starts_in_s = RESTART_TIMEOUT_S * 10  # it hangs while it starts
        dispatcher.actor.died = True
        await asyncio.sleep(RESTART_TIMEOUT_S)
        assert len(dispatcher.actors) == 3
        await asyncio.sleep(20)
        assert len(dispatcher.actors) == 4
        assert dispatcher.actors[2].killed_s - dispatcher.actors[2].begun_s > RESTART_TIMEOUT_S


@virtual_time
async def test_without_ray_no_actor_is_asked_or_made(monkeypatch):
    async with supervised() as (dispatcher, controller):
        monkeypatch.setattr("ray.is_initialized", lambda: False)
        asked = dispatcher.actor.asked
        await asyncio.sleep(100)
        assert dispatcher.actor.asked == asked
        assert (len(dispatcher.actors), len(controller.actors)) == (1, 1)


@virtual_time
async def test_after_the_end_of_supervision_no_actor_is_asked():
    async with supervised() as (dispatcher, _):
        await asyncio.sleep(5)
    asked = dispatcher.actor.asked
    await asyncio.sleep(100)
    assert dispatcher.actor.asked == asked > 0
