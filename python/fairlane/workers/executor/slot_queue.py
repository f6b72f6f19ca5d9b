"""The queue of callers that wait for a slot. Which slot a caller gets is decided by the ``choose`` callback."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from fairlane.workers.errors import WorkerError, WorkerErrorCode

T = TypeVar("T")

Choose = Callable[[Collection[str]], T | None]
"""Returns a free slot, if possible not on these workers; None if no slot is free; raises if none ever will be."""


class SlotQueue(Generic[T]):
    """First come, first served: only the first waiter may choose, and a new caller only if nobody waits.

    Two rules prevent lost wake-ups. Whatever may have freed a slot, or made waiting pointless, calls `notify`. And the
    first waiter notifies the next one when it leaves, for whatever reason.
    """

    def __init__(self, limit: int, choose: Choose[T]) -> None:
        self._limit = limit
        self._choose = choose
        self._waiters: OrderedDict[asyncio.Event, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiters)

    async def acquire(self, avoid: Collection[str] = ()) -> T:
        """Return a slot. The caller must fill it before it suspends again.

        The limit applies only to new tasks: a caller that avoids workers is retrying, and was admitted before.

        Raises:
            WorkerError: queue_full, and what ``choose`` raises.
        """
        if not self._waiters:
            chosen = self._choose(avoid)
            if chosen is not None:
                return chosen
        if len(self._waiters) >= self._limit and not avoid:
            raise WorkerError(
                WorkerErrorCode.QUEUE_FULL,
                f"{len(self._waiters)} tasks wait for a slot, and queue_limit = {self._limit}",
                limit=self._limit,
            )
        return await self._wait(avoid)

    def notify(self) -> None:
        """Let the first waiter choose; it keeps its place if there is still no free slot."""
        if self._waiters:
            next(iter(self._waiters)).set()

    async def _wait(self, avoid: Collection[str]) -> T:
        notified = asyncio.Event()
        self._waiters[notified] = None
        try:
            while True:
                await notified.wait()
                notified.clear()
                chosen = self._choose(avoid)
                if chosen is not None:
                    return chosen
        finally:
            was_first = next(iter(self._waiters)) is notified
            del self._waiters[notified]
            if was_first:
                self.notify()
