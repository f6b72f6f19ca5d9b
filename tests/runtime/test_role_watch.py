"""Dispatcher and controller are checked like workers: who stays silent is ended, for Ray to make it anew."""

import asyncio
import logging
import random
from contextlib import asynccontextmanager

import pytest
from ray import exceptions

from fairlane.config.workers import HealthConfig
from fairlane.runtime.role_watch import RoleWatch
from tests.support.virtual_time import now_s, virtual_time

HEALTH = HealthConfig(interval_ms=1_000, jitter=0, timeout_ms=2_000, failure_threshold=3)
START_TIMEOUT_S = 60.0
AWAY_S = 30.0


class Actor:
    """Stands for Ray's handle. ``hangs``, and after its end it is away, and answers again after a while."""

    def __init__(self) -> None:
        self.health = self
        self.hangs = False
        self.away_until_s = 0.0
        self.died = False
        self.asked = 0
        self.ends_s = []

    async def remote(self):
        self.asked += 1
        if self.died:
            raise exceptions.ActorDiedError
        if now_s() < self.away_until_s:
            raise exceptions.ActorUnavailableError("it is being restarted", None)
        if self.hangs:
            await asyncio.Event().wait()
        return "well"

    def end(self) -> None:
        self.ends_s.append(now_s())
        self.hangs = False
        self.away_until_s = now_s() + AWAY_S


@pytest.fixture(autouse=True)
def connected(monkeypatch):
    monkeypatch.setattr("ray.is_initialized", lambda: True)


@asynccontextmanager
async def watched(**actors: Actor):
    async with RoleWatch(actors, HEALTH, START_TIMEOUT_S, Actor.end, rng=random.Random(1)):
        yield


@virtual_time
async def test_who_is_silent_so_often_is_ended_once_and_the_others_are_not():
    dispatcher, controller = Actor(), Actor()
    async with watched(dispatcher=dispatcher, controller=controller):
        await asyncio.sleep(10.5)
        assert dispatcher.ends_s == []
        dispatcher.hangs = True  # the next checks begin at 11, 14 and 17 s, and take 2 s each
        await asyncio.sleep(100)
        assert dispatcher.ends_s == [19.0]
        dispatcher.hangs = True
        await asyncio.sleep(10)
        assert len(dispatcher.ends_s) == 2
        assert controller.ends_s == []


@virtual_time
async def test_one_answer_makes_up_for_the_silence_before():
    actor = Actor()
    async with watched(dispatcher=actor):
        for _ in range(10):
            actor.hangs = True
            await asyncio.sleep(2 * 3)
            actor.hangs = False
            await asyncio.sleep(3)
        assert actor.ends_s == []


@virtual_time
async def test_one_that_is_restarted_has_the_time_of_a_start_for_its_first_answer():
    actor = Actor()
    async with watched(dispatcher=actor):
        await asyncio.sleep(1.5)
        actor.away_until_s, actor.hangs = 20.0, True  # from 20 s on it is there, and does not answer
        await asyncio.sleep(START_TIMEOUT_S)
        assert actor.ends_s == []
        await asyncio.sleep(20)
        assert len(actor.ends_s) == 1
        assert actor.ends_s[0] > START_TIMEOUT_S


@virtual_time
async def test_one_that_has_ended_for_good_is_asked_no_more(caplog):
    caplog.set_level(logging.WARNING)
    actor = Actor()
    async with watched(dispatcher=actor):
        actor.died = True
        await asyncio.sleep(100)
        assert (actor.asked, actor.ends_s) == (1, [])
        assert "dispatcher is watched no more" in caplog.text


@virtual_time
async def test_without_ray_nobody_is_asked(monkeypatch):
    actor = Actor()
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    async with watched(dispatcher=actor):
        await asyncio.sleep(100)
        assert actor.asked == 0


@virtual_time
async def test_after_its_end_nobody_is_asked():
    actor = Actor()
    async with watched(dispatcher=actor):
        await asyncio.sleep(5)
    asked = actor.asked
    await asyncio.sleep(100)
    assert actor.asked == asked > 0
