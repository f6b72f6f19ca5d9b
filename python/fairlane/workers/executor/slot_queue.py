"""Who waits for a slot, and whose turn it is. Which slot there is to take is not decided here."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from fairlane.workers.errors import WorkerError, WorkerErrorCode

T = TypeVar("T")

Choose = Callable[[Collection[str]], T | None]
"""Returns a free slot, if possible on none of these workers; None if there is none; raises if there will be none."""


class SlotQueue(Generic[T]):
    """First come, first served: only the first in line may choose, and a newcomer only if nobody is in line.

    Two rules keep a wake-up from being lost. Whoever learns that there may be a free slot, or that there will never
    be one, calls `wake`. And whoever was first in line wakes the next one when it leaves, for whatever reason.
    """

    def __init__(self, limit: int, choose: Choose[T]) -> None:
        self._limit = limit
        self._choose = choose
        self._line: OrderedDict[asyncio.Event, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._line)

    async def take(self, avoid: Collection[str] = ()) -> T:
        """Return a slot, which is the caller's to fill before it suspends again.

        Whoever avoids workers was on them before, and so was let in before: the limit is for the others.

        Raises:
            WorkerError: queue_full, and what choosing raises.
        """
        if not self._line:
            chosen = self._choose(avoid)
            if chosen is not None:
                return chosen
        if len(self._line) >= self._limit and not avoid:
            raise WorkerError(
                WorkerErrorCode.QUEUE_FULL,
                f"{len(self._line)} tasks wait for a slot, and queue_limit = {self._limit}",
                limit=self._limit,
            )
        return await self._wait(avoid)

    def wake(self) -> None:
        """Let the first in line choose; it stays in line if there is still nothing to choose from."""
        if self._line:
            next(iter(self._line)).set()

    async def _wait(self, avoid: Collection[str]) -> T:
        turn = asyncio.Event()
        self._line[turn] = None
        try:
            while True:
                await turn.wait()
                turn.clear()
                chosen = self._choose(avoid)
                if chosen is not None:
                    return chosen
        finally:
            was_first = next(iter(self._line)) is turn
            del self._line[turn]
            if was_first:
                self.wake()
