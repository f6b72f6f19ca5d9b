"""The attempts one worker incarnation runs: from the hand-over to what is still to be told to the store."""

import asyncio
from collections.abc import Callable
from enum import Enum

from fairlane.domain.attempt import Outcome
from fairlane.lifecycle.ending import Endings, refused, stopped, usage_told
from fairlane.lifecycle.payload import decode
from fairlane.providers.base import Call, Provider, Reply
from fairlane.store.messages import Return, Settlement, StartedTask, Throttle


class Stop(Enum):
    """Why the worker stopped a call."""

    EXPIRED = Outcome.EXPIRED
    CANCELLED = Outcome.CANCELLED
    RETURN = "return"
    """It goes back to the store unfinished."""
    ABANDON = "abandon"
    """The store no longer cares: nothing is told but what the call used."""


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
    """All attempts this incarnation holds. One is held until the store has answered for its end."""

    def __init__(self, provider: Provider, endings: Endings, ended: Callable[[], None]) -> None:
        self._call = provider.call
        self._endings = endings
        self._ended = ended
        self.held: dict[int, Attempt] = {}
        """By fence. Whoever gets the store's answer takes the attempt out."""
        self.settlements: list[Settlement] = []
        self.throttles: list[Throttle] = []
        self.returns: list[Return] = []

    @property
    def untold(self) -> bool:
        """Whether ended attempts wait to be told to the store."""
        return bool(self.settlements or self.throttles or self.returns)

    @property
    def running(self) -> list[Attempt]:
        """The attempts whose call has not ended."""
        return [attempt for attempt in self.held.values() if attempt.call is not None]

    def begin(self, task: StartedTask) -> None:
        """Call the provider, unless this attempt is held already."""
        fence = task.fence
        if fence in self.held:
            return
        attempt = self.held[fence] = Attempt(task)
        try:
            payload = decode(task.payload)
        except ValueError as error:
            self.settlements.append(refused(task, "undecodable_payload", str(error)))
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
        """Give back what was handed over, without calling the provider."""
        if task.fence not in self.held:
            self.held[task.fence] = Attempt(task)
            self.returns.append(Return(task.ref, task.fence))

    def stop(self, fence: int, why: Stop) -> None:
        """Stop a call, once."""
        attempt = self.held.get(fence)
        if attempt is not None and attempt.call is not None and attempt.stop is None:
            attempt.stop = why
            attempt.call.cancel()
            if not attempt.begun:  # then the cancelled coroutine never runs, and cannot tell
                attempt.call = None
                self._tell(attempt, asyncio.CancelledError())

    def give_up(self, attempt: Attempt, why: Stop) -> None:
        """End an attempt whose call does not end although it was stopped."""
        if attempt.call is not None:
            attempt.call = None
            attempt.stop = attempt.stop or why
            self._tell(attempt, asyncio.CancelledError())

    async def _run(self, attempt: Attempt, call: Call) -> None:
        attempt.begun = True
        end: Reply | BaseException
        try:
            end = await self._call(call)
        except asyncio.CancelledError as error:
            end = error
        except Exception as error:
            end = error
        if attempt.call is not None:
            attempt.call = None
            self._tell(attempt, end)

    def _tell(self, attempt: Attempt, end: Reply | BaseException) -> None:
        if attempt.timer is not None:
            attempt.timer.cancel()
        task = attempt.task
        why = attempt.stop
        if why is None:
            if isinstance(end, BaseException):
                told = self._endings.raised(task, end)
                if isinstance(told, Throttle):
                    self.throttles.append(told)
                else:
                    self.settlements.append(told)
            else:
                self.settlements.append(self._endings.completed(task, end))
        elif why is Stop.RETURN:
            self.returns.append(Return(task.ref, task.fence, attempt.begun, usage_told(end)))
        elif why is Stop.ABANDON:
            if used := usage_told(end):
                self.returns.append(Return(task.ref, task.fence, True, used))
            else:
                self.held.pop(task.fence, None)
        else:
            self.settlements.append(stopped(task, Outcome(why.value), end))
        self._ended()
