"""The attempts that a worker holds, without a store: how each end is reported."""

import asyncio
import time

from fairlane.clock import system_rng
from fairlane.config import WorkerConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.task import TaskRef
from fairlane.lifecycle.attempts import Attempts, Stop
from fairlane.lifecycle.ending import Endings
from fairlane.providers.base import Call, Provider, Reply
from fairlane.store.messages import Return, StartedTask


class Stoppable:
    """Runs until it is stopped; then ends in the way that the test chose."""

    def __init__(self, end: Reply | BaseException | None = None) -> None:
        self.calls: list[Call] = []
        self._end = end

    async def call(self, call: Call) -> Reply:
        self.calls.append(call)
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            if isinstance(self._end, Reply):
                return self._end
            raise self._end or asyncio.CancelledError from None
        raise AssertionError("the future never ends")


def _attempts(provider: Provider) -> tuple[Attempts, asyncio.Event]:
    ended = asyncio.Event()
    return Attempts(provider, Endings(WorkerConfig(), system_rng(1)), ended.set), ended


def _task(fence: int = 3, deadline_ms: int | None = None) -> StartedTask:
    return StartedTask(TaskRef("acme", "t1"), fence, 100, b"jnull", 2, deadline_ms)


def _now_s() -> float:
    return asyncio.get_running_loop().time()


async def test_a_call_has_the_fields_of_its_task() -> None:
    provider = Stoppable()
    attempts, _ = _attempts(provider)
    attempts.begin(_task(), _now_s())
    await asyncio.sleep(0)
    assert provider.calls == [Call("acme", "t1", None, 100, 3, None)]
    attempts.stop(3, Stop.ABANDON)


async def test_the_same_attempt_handed_over_twice_is_called_once() -> None:
    provider = Stoppable()
    attempts, _ = _attempts(provider)
    attempts.begin(_task(), _now_s())
    attempts.begin(_task(), _now_s())
    await asyncio.sleep(0)
    assert len(provider.calls) == 1
    attempts.stop(3, Stop.ABANDON)


async def test_an_attempt_stopped_before_its_call_begins_ends_without_a_call() -> None:
    provider = Stoppable()
    attempts, ended = _attempts(provider)
    attempts.begin(_task(), _now_s())
    attempts.stop(3, Stop.CANCELLED)
    await ended.wait()
    await asyncio.sleep(0)
    assert provider.calls == []
    [settlement] = attempts.settlements(10)
    assert (settlement.outcome, settlement.actual) == (Outcome.CANCELLED, 0)


async def test_a_stopped_call_that_still_returns_is_settled_at_its_usage() -> None:
    attempts, ended = _attempts(Stoppable(Reply("half", 40)))
    attempts.begin(_task(), _now_s())
    await asyncio.sleep(0)
    attempts.stop(3, Stop.EXPIRED)
    attempts.stop(3, Stop.CANCELLED)
    await ended.wait()
    [settlement] = attempts.settlements(10)
    assert (settlement.outcome, settlement.actual, settlement.result) == (Outcome.EXPIRED, 40, b"")


async def test_a_call_that_cancels_itself_has_failed() -> None:
    class Confused:
        async def call(self, call: Call) -> Reply:
            raise asyncio.CancelledError

    attempts, ended = _attempts(Confused())
    attempts.begin(_task(), _now_s())
    await ended.wait()
    [settlement] = attempts.settlements(10)
    assert (settlement.outcome, settlement.error_code) == (Outcome.FAILED, "provider_failed")


async def test_a_returned_attempt_is_kept_until_the_store_has_answered() -> None:
    provider = Stoppable()
    attempts, ended = _attempts(provider)
    attempts.begin(_task(3), _now_s())
    attempts.hand_back(_task(4))
    await asyncio.sleep(0)
    attempts.stop(3, Stop.RETURN)
    await ended.wait()
    assert attempts.running == []
    returns = attempts.returns(10)
    assert returns == [Return(TaskRef("acme", "t1"), 4), Return(TaskRef("acme", "t1"), 3, called=True)]
    assert (attempts.returns(1), attempts.held) == (returns[:1], 2)
    attempts.acknowledge(returns[:1])
    assert (attempts.returns(10), attempts.held, attempts.to_give_back) == (returns[1:], 1, 1)
    attempts.acknowledge(returns[1:])
    assert (attempts.returns(10), attempts.held, attempts.to_give_back) == ([], 0, 0)


async def test_an_abandoned_call_is_not_reported() -> None:
    attempts, ended = _attempts(Stoppable())
    attempts.begin(_task(), _now_s())
    await asyncio.sleep(0)
    attempts.stop(3, Stop.ABANDON)
    await ended.wait()
    assert (attempts.to_settle, attempts.to_give_back, attempts.held) == (0, 0, 0)


async def test_a_reply_that_lay_longer_than_the_deadline_causes_no_call() -> None:
    provider = Stoppable()
    attempts, ended = _attempts(provider)
    attempts.begin(_task(deadline_ms=500), _now_s() - 1.5)
    await ended.wait()
    [settlement] = attempts.settlements(10)
    assert (provider.calls, settlement.outcome, settlement.actual) == ([], Outcome.EXPIRED, 0)
    assert attempts.running == []


async def test_no_call_begins_after_the_deadline_although_the_loop_was_held_up() -> None:
    provider = Stoppable()
    attempts, ended = _attempts(provider)
    for fence in range(16):
        attempts.begin(_task(fence, deadline_ms=50), _now_s())
    time.sleep(0.06)  # what holds up the loop
    await ended.wait()
    assert (provider.calls, len(attempts.settlements(100))) == ([], 16)


async def test_the_time_left_counts_from_the_request() -> None:
    provider = Stoppable()
    attempts, _ = _attempts(provider)
    attempts.begin(_task(deadline_ms=60_000), _now_s() - 20)
    await asyncio.sleep(0)
    [call] = provider.calls
    assert call.deadline_s is not None
    assert 0 < call.deadline_s <= 40
    attempts.stop(3, Stop.ABANDON)
