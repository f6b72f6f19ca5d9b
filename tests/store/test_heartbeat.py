"""A separate thread sends heartbeats, even while the event loop is blocked, until the incarnation is lost."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from fairlane.clock import SYSTEM_CLOCK
from fairlane.store.connection import Endpoint
from fairlane.store.heartbeat import HeartbeatThread
from fairlane.store.messages import HeartbeatReply
from fairlane.store.store import Store
from tests.support.store_servers import running
from tests.support.store_world import World, task

PERIOD_S = 0.02
LONG_S = 10.0


class Owner:
    """Keeps the replies, as a worker does."""

    def __init__(self, endpoint: Endpoint, name: str, incarnation: str = "w1") -> None:
        self.beats: list[HeartbeatReply] = []
        self.beaten = threading.Event()
        self.lost = threading.Event()
        self.thread = HeartbeatThread(endpoint, name, incarnation, PERIOD_S, self._on_beat, self.lost.set)

    def _on_beat(self, beat: HeartbeatReply) -> None:
        self.beats.append(beat)
        self.beaten.set()

    def next_beat(self) -> HeartbeatReply:
        """Wait for the reply to a heartbeat that is sent after this call. Blocks the event loop's thread."""
        self.beaten.clear()
        assert self.beaten.wait(LONG_S)
        return self.beats[-1]


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with running(tmp_path) as url:
        yield url


async def test_it_beats_while_the_event_loop_is_blocked_and_reports_the_attempts_held(world: World) -> None:
    await world.ready()
    await world.active(task("t"))
    owner = Owner(world.endpoint, world.name)
    before = owner.thread.last_sent_s
    owner.thread.start()
    try:
        owner.next_beat()
        assert owner.next_beat().held == 1
        assert owner.thread.last_sent_s > before
    finally:
        owner.thread.stop()
    assert not owner.lost.is_set()
    assert SYSTEM_CLOCK.monotonic_s() >= owner.thread.last_sent_s


async def test_it_brings_cancellations(world: World) -> None:
    await world.ready()
    (started,) = await world.active(task("t"))
    await world.store.cancel([started.ref])
    owner = Owner(world.endpoint, world.name)
    owner.thread.start()
    try:
        assert owner.next_beat().cancelling == ((started.ref, started.fence),)
    finally:
        owner.thread.stop()


async def test_when_the_incarnation_is_lost_it_says_so_once_and_ends(world: World) -> None:
    await world.ready()
    owner = Owner(world.endpoint, world.name)
    owner.thread.start()
    try:
        owner.next_beat()
        await world.store.evict("w1")
        assert owner.lost.wait(LONG_S)
        count = len(owner.beats)
    finally:
        owner.thread.stop()
    assert len(owner.beats) == count
    assert all(beat.alive for beat in owner.beats)


async def test_it_survives_a_server_that_hangs_and_beats_at_once_when_it_is_back(url: str, name: str) -> None:
    async with Store(Endpoint(url), name) as store:
        world = World(Endpoint(url), name)
        await world.ready(lease_ms=60_000)
        await world.store.close()
        owner = Owner(Endpoint(url), name)
        owner.thread.start()
        process = int((await store.info("server"))["process_id"])
        try:
            owner.next_beat()
            os.kill(process, signal.SIGSTOP)
            owner.beaten.clear()
            sent = owner.thread.last_sent_s
            assert not owner.beaten.wait(5 * PERIOD_S)
            assert owner.thread.last_sent_s - sent <= PERIOD_S * 3  # an unanswered beat does not count
            os.kill(process, signal.SIGCONT)
            owner.next_beat()
        finally:
            os.kill(process, signal.SIGCONT)
            owner.thread.stop()
        assert not owner.lost.is_set()


async def test_flushed_scripts_and_cut_connections_do_not_stop_it(url: str, name: str) -> None:
    world = World(Endpoint(url), name)
    async with world.store:
        await world.ready()
        owner = Owner(Endpoint(url), name)
        owner.thread.start()
        try:
            with redis.Redis.from_url(url) as admin:
                for _ in range(3):
                    owner.next_beat()
                    admin.script_flush()
                    owner.next_beat()
                    admin.client_kill_filter(_type="normal", skipme=True)
                    owner.next_beat()
        finally:
            owner.thread.stop()
        assert not owner.lost.is_set()


async def test_it_stops_in_about_a_period(world: World) -> None:
    await world.ready()
    owner = Owner(world.endpoint, world.name)
    owner.thread.start()
    owner.next_beat()
    started = SYSTEM_CLOCK.monotonic_s()
    owner.thread.stop()
    assert SYSTEM_CLOCK.monotonic_s() - started < 1.0
    count = len(owner.beats)
    owner.thread.stop()
    assert len(owner.beats) == count
