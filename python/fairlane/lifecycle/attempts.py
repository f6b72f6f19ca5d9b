"""The attempts of one worker incarnation: each from its hand-over, through the provider's call, to the store's answer.

`Attempts` calls the provider and owns the ends that the store has not answered for. `Reports` sends them.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from enum import Enum
from itertools import islice
from typing import Final

from fairlane.domain.attempt import Outcome
from fairlane.lifecycle.ending import Endings, refused, stopped, usage_at_stop
from fairlane.lifecycle.payload import decode
from fairlane.providers.base import Call, Provider
from fairlane.store.messages import Return, Settlement, Started, StartedTask, Throttle, Write
from fairlane.store.store import Store

CANCEL_WAIT_S: Final = 1.0
"""How long a cancelled call may take to end before it is given up."""

_log = logging.getLogger(__name__)


class Stop(Enum):
    """Why the worker stopped a call."""

    EXPIRED = Outcome.EXPIRED
    CANCELLED = Outcome.CANCELLED
    RETURN = "return"
    """It goes back to the store unfinished."""
    ABANDON = "abandon"
    """The store has given the task to another worker: only the usage of the call is reported."""


class Attempt:
    """One call, running or ended."""

    __slots__ = ("begun", "call", "stop", "task", "timer")

    def __init__(self, task: StartedTask) -> None:
        self.task = task
        self.begun = False
        self.call: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.stop: Stop | None = None


class Attempts:
    """All attempts that an incarnation holds. It holds one until the store has answered for its end.

    Ended attempts wait in three queues, by the command that reports them. `settlements`, `throttles` and `returns`
    read the oldest of a queue; they stay there until `acknowledge`. ``ended`` is called after each end.
    """

    def __init__(self, provider: Provider, endings: Endings, ended: Callable[[], None]) -> None:
        self._provider_call = provider.call
        self._endings = endings
        self._ended = ended
        self._held: dict[int, Attempt] = {}
        """By fence, as are the queues."""
        self._settlements: dict[int, Settlement] = {}
        self._throttles: dict[int, Throttle] = {}
        self._returns: dict[int, Return] = {}

    # -- what it holds -----------------------------------------------------------------------------------------

    @property
    def held(self) -> int:
        """How many attempts it holds."""
        return len(self._held)

    @property
    def running(self) -> list[Attempt]:
        """The attempts whose call has not ended."""
        return [attempt for attempt in self._held.values() if attempt.call is not None]

    @property
    def to_settle(self) -> int:
        """How many settlements the store has not answered for."""
        return len(self._settlements)

    @property
    def to_give_back(self) -> int:
        """How many throttles and returns the store has not answered for."""
        return len(self._throttles) + len(self._returns)

    def settlements(self, limit: int) -> list[Settlement]:
        """Read the oldest ones."""
        return list(islice(self._settlements.values(), limit))

    def throttles(self, limit: int) -> list[Throttle]:
        """Read the oldest ones."""
        return list(islice(self._throttles.values(), limit))

    def returns(self, limit: int) -> list[Return]:
        """Read the oldest ones."""
        return list(islice(self._returns.values(), limit))

    def acknowledge(self, ends: Sequence[Settlement | Throttle | Return]) -> None:
        """Drop attempts and their ends: the store has answered for them."""
        for end in ends:
            self._held.pop(end.fence, None)
            for queue in (self._settlements, self._throttles, self._returns):
                queue.pop(end.fence, None)

    # -- calls -------------------------------------------------------------------------------------------------

    def begin(self, task: StartedTask, asked_s: float) -> None:
        """Call the provider, unless this attempt is held already.

        ``asked_s``: when the request that got the task was sent, by the loop's clock; the time left counts from then.
        """
        fence = task.fence
        if fence in self._held:
            return
        attempt = self._held[fence] = Attempt(task)
        try:
            payload = decode(task.payload)
        except ValueError as error:
            self._settlements[fence] = refused(task, "undecodable_payload", str(error))
            return
        loop = asyncio.get_running_loop()
        deadline_s = None
        if task.deadline_ms is not None:
            deadline_s = asked_s + task.deadline_ms / 1000
            attempt.timer = loop.call_at(deadline_s, self.stop, fence, Stop.EXPIRED)
        attempt.call = loop.create_task(self._run(attempt, payload, deadline_s))

    def hand_back(self, task: StartedTask) -> None:
        """Return a task to the store without calling the provider, unless this attempt is held already."""
        if task.fence not in self._held:
            self._held[task.fence] = Attempt(task)
            self._returns[task.fence] = Return(task.ref, task.fence)

    def stop(self, fence: int, why: Stop) -> None:
        """Cancel a call, once. If it ignores that, it is given up after `CANCEL_WAIT_S`."""
        attempt = self._held.get(fence)
        if attempt is None or attempt.call is None or attempt.stop is not None:
            return
        attempt.stop = why
        attempt.call.cancel()
        if not attempt.begun:  # the cancelled coroutine never runs, so it records no end
            self._record_end(attempt, asyncio.CancelledError())
            return
        if attempt.timer is not None:
            attempt.timer.cancel()
        attempt.timer = asyncio.get_running_loop().call_later(CANCEL_WAIT_S, self.give_up, attempt)

    def give_up(self, attempt: Attempt) -> None:
        """End a stopped attempt whose call ignores its cancellation. The call's own end is then dropped."""
        if attempt.call is not None:
            _log.warning("the call for task %s does not end when cancelled", attempt.task.ref)
            self._record_end(attempt, asyncio.CancelledError())

    async def _run(self, attempt: Attempt, payload: object, deadline_s: float | None) -> None:
        task = attempt.task
        left_s = None
        if deadline_s is not None:
            left_s = deadline_s - asyncio.get_running_loop().time()
            if left_s <= 0:  # something held up the loop
                attempt.stop = Stop.EXPIRED
                self._record_end(attempt, asyncio.CancelledError())
                return
        attempt.begun = True
        end: object
        try:
            call = Call(task.ref.tenant, task.ref.id, payload, task.cost, task.failures + 1, left_s)
            end = await self._provider_call(call)
        except BaseException as error:  # also SystemExit or GeneratorExit: no provider ends its worker
            end = error
        if attempt.call is not None:
            self._record_end(attempt, end)
        if isinstance(end, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise end  # a user's Ctrl-C, in a program that runs the worker itself

    def _record_end(self, attempt: Attempt, end: object) -> None:
        """Put the end of an attempt into its queue. Every attempt ends here; fails for no ``end``."""
        attempt.call = None
        if attempt.timer is not None:
            attempt.timer.cancel()
        task, why = attempt.task, attempt.stop
        fence = task.fence
        if why is None:
            ending = self._endings.of(task, end)
            if isinstance(ending, Throttle):
                self._throttles[fence] = ending
            else:
                self._settlements[fence] = ending
        elif why is Stop.RETURN:
            self._returns[fence] = Return(task.ref, fence, attempt.begun, usage_at_stop(task, end))
        elif why is Stop.ABANDON:
            if used := usage_at_stop(task, end):
                self._returns[fence] = Return(task.ref, fence, True, used)
            else:
                self._held.pop(fence, None)
        else:
            self._settlements[fence] = stopped(task, Outcome(why.value), end)
        self._ended()


class Reports:
    """Reports ended attempts to the store, a batch per call. A report may be repeated after a lost reply.

    All methods raise StoreError, and then nothing is acknowledged.
    """

    def __init__(self, store: Store, incarnation: str, attempts: Attempts, *, batch: int) -> None:
        self._store = store
        self._incarnation = incarnation
        self._attempts = attempts
        self._batch = batch

    async def settle_and_start(self, cursor: int) -> Started:
        """Settle a batch, if there is one, and take the tasks that were handed over above ``cursor``."""
        settlements = self._attempts.settlements(self._batch)
        if not settlements:
            return await self._store.start(self._incarnation, cursor, self._batch)
        writes, started = await self._store.settle_and_start(self._incarnation, settlements, cursor, self._batch)
        self._acknowledge(settlements, writes)
        return started

    async def settle(self) -> None:
        """Settle a batch, if there is one."""
        settlements = self._attempts.settlements(self._batch)
        if settlements:
            self._acknowledge(settlements, await self._store.settle(self._incarnation, settlements))

    async def give_back(self) -> None:
        """Report a batch of throttles and release a batch of returns, if there are any."""
        throttles = self._attempts.throttles(self._batch)
        if throttles:
            self._acknowledge(throttles, await self._store.throttle(self._incarnation, throttles))
        returns = self._attempts.returns(self._batch)
        if returns:
            await self._store.release(self._incarnation, returns)
            self._attempts.acknowledge(returns)

    async def report(self) -> None:
        """Report a batch of each kind."""
        await self.give_back()
        await self.settle()

    def _acknowledge(self, ends: Sequence[Settlement | Throttle], writes: Sequence[Write]) -> None:
        self._attempts.acknowledge(ends)
        for end, write in zip(ends, writes, strict=True):
            if write is Write.STALE:
                _log.warning("task %s: attempt %d was no longer this worker's", end.ref, end.fence)
        if _log.isEnabledFor(logging.INFO):
            for end in ends:
                how = end.outcome.value if isinstance(end, Settlement) else "throttled"
                _log.info("task %s attempt %d %s", end.ref, end.fence, how)
