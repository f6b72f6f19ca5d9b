"""Telling the store how attempts ended. What is told stays in its list until the store has answered."""

import logging
from collections.abc import Sequence

from fairlane.lifecycle.attempts import Attempts
from fairlane.store.messages import Settlement, Started, Throttle, Write
from fairlane.store.store import Store

_log = logging.getLogger(__name__)


class Reports:
    """The writes of one incarnation about its attempts, in batches. Repeating one after a lost reply is safe."""

    def __init__(self, store: Store, incarnation: str, attempts: Attempts, *, batch: int) -> None:
        self._store = store
        self._incarnation = incarnation
        self._attempts = attempts
        self._batch = batch

    async def settle_and_start(self, cursor: int) -> Started:
        """Settle a batch, if there is one, and take what was handed over above ``cursor``."""
        settlements = self._attempts.settlements[: self._batch]
        if not settlements:
            return await self._store.start(self._incarnation, cursor, self._batch)
        writes, started = await self._store.settle_and_start(self._incarnation, settlements, cursor, self._batch)
        self._settled(settlements, writes)
        return started

    async def settle(self) -> None:
        """Settle a batch."""
        settlements = self._attempts.settlements[: self._batch]
        if settlements:
            self._settled(settlements, await self._store.settle(self._incarnation, settlements))

    async def tell_others(self) -> None:
        """Tell a batch of throttles and a batch of returns."""
        attempts = self._attempts
        throttles = attempts.throttles[: self._batch]
        if throttles:
            self._note(throttles, await self._store.throttle(self._incarnation, throttles))
            del attempts.throttles[: len(throttles)]
        returns = attempts.returns[: self._batch]
        if returns:
            await self._store.release(self._incarnation, returns)
            del attempts.returns[: len(returns)]
            for each in returns:
                attempts.held.pop(each.fence, None)

    async def tell(self) -> None:
        """Tell a batch of each kind."""
        await self.tell_others()
        await self.settle()

    def _settled(self, settlements: list[Settlement], writes: Sequence[Write]) -> None:
        self._note(settlements, writes)
        del self._attempts.settlements[: len(settlements)]

    def _note(self, told: Sequence[Settlement | Throttle], writes: Sequence[Write]) -> None:
        held = self._attempts.held
        for item, write in zip(told, writes, strict=True):
            held.pop(item.fence, None)
            if write is Write.STALE:
                _log.warning("task %s: attempt %d was no longer this worker's", item.ref, item.fence)
        if _log.isEnabledFor(logging.INFO):
            for item in told:
                how = item.outcome.value if isinstance(item, Settlement) else "throttled"
                _log.info("task %s attempt %d %s", item.ref, item.fence, how)
