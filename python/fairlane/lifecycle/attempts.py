"""The attempts of one worker incarnation: each from its hand-over, through the provider's call, to the store's answer.

`Attempts` calls the provider and owns the ends that the store has not answered for. `Reports` sends them.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from enum import Enum
from itertools import islice

from fairlane.domain.attempt import Outcome
from fairlane.lifecycle.ending import Endings, refused, stopped, usage_at_stop
from fairlane.lifecycle.payload import decode
from fairlane.providers.base import Call, Provider, Reply
from fairlane.store.messages import Return, Settlement, Started, StartedTask, Throttle, Write
from fairlane.store.store import Store

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

    def begin(self, task: StartedTask) -> None:
        """Call the provider, unless this attempt is held already."""
        fence = task.fence
        if fence in self._held:
            return
        attempt = self._held[fence] = Attempt(task)
        try:
            payload = decode(task.payload)
        except ValueError as error:
            self._settlements[fence] = refused(task, "undecodable_payload", str(error))
            return
        ref = task.ref
        loop = asyncio.get_running_loop()
        deadline_s = None
        if task.deadline_ms is not None:
            deadline_s = task.deadline_ms / 1000
            attempt.timer = loop.call_later(deadline_s, self.stop, fence, Stop.EXPIRED)
        call = Call(ref.tenant, ref.id, payload, task.cost, task.failures + 1, deadline_s)
        attempt.call = loop.create_task(self._run(attempt, call))

    def hand_back(self, task: StartedTask) -> None:
        """Return a task to the store without calling the provider, unless this attempt is held already."""
        if task.fence not in self._held:
            self._held[task.fence] = Attempt(task)
            self._returns[task.fence] = Return(task.ref, task.fence)

    def stop(self, fence: int, why: Stop) -> None:
        """Cancel a call, once."""
        attempt = self._held.get(fence)
        if attempt is not None and attempt.call is not None and attempt.stop is None:
            attempt.stop = why
            attempt.call.cancel()
            if not attempt.begun:  # the cancelled coroutine never runs, so it records no end
                attempt.call = None
                self._record_end(attempt, asyncio.CancelledError())

    def give_up(self, attempt: Attempt, why: Stop) -> None:
        """End an attempt whose call ignores its cancellation."""
        if attempt.call is not None:
            attempt.call = None
            attempt.stop = attempt.stop or why
            self._record_end(attempt, asyncio.CancelledError())

    async def _run(self, attempt: Attempt, call: Call) -> None:
        attempt.begun = True
        end: Reply | BaseException
        try:
            end = await self._provider_call(call)
        except asyncio.CancelledError as error:
            end = error
        except Exception as error:
            end = error
        if attempt.call is not None:
            attempt.call = None
            self._record_end(attempt, end)

    def _record_end(self, attempt: Attempt, end: Reply | BaseException) -> None:
        """Put the end of an attempt into its queue."""
        if attempt.timer is not None:
            attempt.timer.cancel()
        task, why = attempt.task, attempt.stop
        fence = task.fence
        if why is None:
            if isinstance(end, BaseException):
                ending = self._endings.raised(task, end)
                if isinstance(ending, Throttle):
                    self._throttles[fence] = ending
                else:
                    self._settlements[fence] = ending
            else:
                self._settlements[fence] = self._endings.completed(task, end)
        elif why is Stop.RETURN:
            self._returns[fence] = Return(task.ref, fence, attempt.begun, usage_at_stop(end))
        elif why is Stop.ABANDON:
            if used := usage_at_stop(end):
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
