"""A scheduler for users without an event loop."""

import asyncio
import gc
import inspect
import os
import signal
import threading
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

import fairlane
from fairlane import SyncScheduler, TaskSpec, TaskState
from fairlane.runtime.loop_thread import LoopThread
from fairlane.runtime.sync import SyncTaskHandle

from .conftest import PROVIDER


@pytest.mark.ray
def test_without_an_event_loop(platform, config):
    with SyncScheduler(config, PROVIDER, platform=platform) as s:
        assert s.submit("acme", {"echo": [1]}, cost=5).result(timeout_s=30) == [1]
        assert s.submit("acme", {"echo": [2], "actual": 7}).result(timeout_s=30) == [2]
        assert s.client.coverage("acme") == fairlane.Coverage(1, 1)
        *handles, refused = s.submit_many([*(TaskSpec("beta", {"echo": i}, 5) for i in range(20)), TaskSpec("x", 0, 1)])
        assert s.wait_many(handles, timeout_s=30) == list(range(20))
        assert isinstance(refused, fairlane.UnknownTenant)
        assert s.operator.ledger("beta").limit is None
        s.operator.put_tenant("beta", fairlane.TenantConfig(budget=fairlane.BudgetConfig(limit_units=10_000)))
        assert s.operator.top_up("beta", 5, "k") == s.operator.ledger("beta").limit == 10_005
        assert s.client.get("beta", handles[0].ref.id).state is handles[0].state() is TaskState.COMPLETED
        s.operator.pause(60_000)
        assert s.operator.snapshot().pool.paused_ms > 0
        s.operator.resume()
        assert s.operator.set_capacity(1) == s.operator.snapshot().pool.capacity == 1
        s.operator.close_admission()
        with pytest.raises(fairlane.AdmissionClosed):
            s.submit("acme", {}, cost=1)
        s.operator.open_admission()
        assert s.submit("acme", {"echo": 3}, cost=1).result(timeout_s=30) == 3
        assert {worker.name.partition("@")[0] for worker in s.operator.workers()} == {"worker-1", "worker-2"}
        assert s.operator.add_worker() == "worker-3"
        s.operator.remove_worker("worker-1", grace_s=5.0)
        assert s.operator.actor_pids().keys() == {"controller", "dispatcher", "worker-2", "worker-3"}
        assert s.operator.change_tenant("gamma", lambda _: fairlane.TenantConfig(weight=3))[0] is None
        assert s.operator.tenant("gamma").limits.weight == 3
        assert s.operator.remove_tenant("gamma")
        assert s.client.cancel("beta", handles[0].ref.id) is fairlane.CancelStatus.ENDED
        client, operator = s.client, s.operator
    for ask in (lambda: s.client, lambda: s.operator, lambda: client.get("beta", "x"), operator.workers):
        with pytest.raises(fairlane.RuntimeStartError, match=f"scheduler {config.name} is not started"):
            ask()


def test_derived_methods_have_the_signature_and_docstring_of_their_origin():
    for derived, origin in (
        (SyncScheduler.submit, fairlane.Client.submit),
        (fairlane.Scheduler.submit, fairlane.Client.submit),
        (fairlane.SyncOperator.remove_worker, fairlane.SchedulerOperator.remove_worker),
    ):
        assert derived.__doc__ == origin.__doc__
        assert inspect.signature(derived).parameters == inspect.signature(origin).parameters
    assert inspect.signature(SyncScheduler.submit).return_annotation is SyncTaskHandle
    assert inspect.signature(fairlane.SyncOperator.add_worker).return_annotation is str


def test_a_start_that_fails_leaves_no_thread(config):
    before = {thread.name for thread in threading.enumerate()}
    refused = SyncScheduler(config.model_copy(update={"ray": fairlane.RayConfig(address="10.0.0.1:1")}), PROVIDER)
    with pytest.raises(fairlane.ConfigError, match="embedded server"):
        refused.start()
    assert {thread.name for thread in threading.enumerate()} <= before


@pytest.fixture
def unused(config, monkeypatch) -> SyncScheduler:
    """A scheduler whose start and stop do nothing, unless a test replaces them."""

    async def nothing() -> None:
        """Done."""

    scheduler = SyncScheduler(config, PROVIDER)
    monkeypatch.setattr(scheduler.scheduler, "start", nothing)
    monkeypatch.setattr(scheduler.scheduler, "stop", nothing)
    return scheduler


class Gate:
    """An asynchronous function that records its calls, and ends when the test allows it."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.may_end = threading.Event()
        self.calls = 0

    async def __call__(self) -> None:
        self.calls += 1
        self.entered.set()
        while not self.may_end.is_set():
            await asyncio.sleep(0.01)


def in_thread(function) -> Future:
    """Run the function in a daemon thread, which cannot delay the end of the tests."""
    future: Future = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def test_a_second_stop_waits_for_the_first(unused, monkeypatch):
    stopping = Gate()
    monkeypatch.setattr(unused.scheduler, "stop", stopping)
    unused.start()
    first = in_thread(unused.stop)
    assert stopping.entered.wait(30)
    second = in_thread(unused.stop)
    with pytest.raises(TimeoutError):
        second.result(0.2)
    stopping.may_end.set()
    assert [first.result(30), second.result(30), stopping.calls] == [None, None, 1]


def test_a_stop_by_a_signal_handler_during_a_stop_returns(unused, monkeypatch):
    async def interrupted() -> None:
        while not handled.is_set():
            os.kill(os.getpid(), signal.SIGUSR1)
            await asyncio.sleep(0.05)

    loops: list[asyncio.AbstractEventLoop] = []
    handled = asyncio.Event()

    def handle(*_: object) -> None:
        unused.stop()
        loops[0].call_soon_threadsafe(handled.set)

    async def begin() -> None:
        loops.append(asyncio.get_running_loop())

    monkeypatch.setattr(unused.scheduler, "start", begin)
    monkeypatch.setattr(unused.scheduler, "stop", interrupted)
    before = signal.signal(signal.SIGUSR1, handle)
    try:
        unused.start()
        unused.stop()
    finally:
        signal.signal(signal.SIGUSR1, before)
    with pytest.raises(fairlane.RuntimeStartError, match="not started"):
        unused.operator.workers()


def test_a_stop_ends_a_start_in_another_thread(unused, monkeypatch):
    starting = Gate()
    monkeypatch.setattr(unused.scheduler, "start", starting)
    start = in_thread(unused.start)
    assert starting.entered.wait(30)
    unused.stop()
    with pytest.raises(fairlane.RuntimeStartError, match="was stopped while it started"):
        start.result(30)
    monkeypatch.setattr(unused.scheduler, "start", unused.scheduler.stop)
    unused.start()
    unused.stop()


def test_a_second_start_is_refused_and_the_first_is_not_affected(unused):
    unused.start()
    with pytest.raises(fairlane.RuntimeStartError, match="already started"):
        unused.start()
    unused.stop()


@pytest.mark.filterwarnings("error")
def test_calls_that_wait_at_the_stop_or_come_after_it_fail(unused):
    async def forever() -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def never() -> None:
        raise AssertionError

    waiting = threading.Event()
    unused.start()
    loop = unused._started
    held = in_thread(lambda: loop.run(forever()))
    assert waiting.wait(30)
    unused.stop()
    with pytest.raises(fairlane.RuntimeStartError, match="not started"):
        held.result(30)
    handle = SyncTaskHandle(loop, SimpleNamespace(result=lambda _: never(), state=never, cancel=never))
    for ask in (handle.result, handle.state, handle.cancel, lambda: unused.operator, lambda: unused.client):
        with pytest.raises(fairlane.RuntimeStartError, match="not started"):
            ask()
    with pytest.raises(fairlane.RuntimeStartError, match="not started"):
        unused.submit("acme", {}, cost=1)
    gc.collect()


def test_an_interrupt_cancels_the_call_that_is_waited_for():
    """Ctrl-C comes while the main thread waits: the call ends before KeyboardInterrupt is raised."""

    async def work() -> None:
        try:
            while not interrupted:
                os.kill(os.getpid(), signal.SIGINT)  # again, since the main thread may not wait yet
                await asyncio.sleep(0.05)
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    def interrupt(*_: object) -> None:
        interrupted.append(True)
        if len(interrupted) == 1:
            raise KeyboardInterrupt

    interrupted: list[bool] = []
    ended: list[bool] = []
    loop = LoopThread("closed")
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run(work())
        assert ended == [True]
    finally:
        signal.signal(signal.SIGINT, before)
        loop.close()
    loop.close()
