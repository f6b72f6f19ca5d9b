"""Logs what becomes of a scheduler's tasks, as its event stream tells it.

The processes that run tasks are Ray's, and their logs are files of Ray's; the stream has what all of them did.
"""

import logging
from typing import Final

from fairlane.backoff import StoreRetry
from fairlane.clock import system_rng
from fairlane.domain.attempt import ATTEMPT_TRANSITIONS
from fairlane.domain.events import Event, EventKind, Scalar
from fairlane.domain.task import TASK_TRANSITIONS
from fairlane.store.store import Store

_PAGE: Final = 1000
_WAIT_MS: Final = 60_000
_ENDED: Final = frozenset(state.value for state in TASK_TRANSITIONS if state.ended)
_ENDS: Final = frozenset(state.value for state, moves in ATTEMPT_TRANSITIONS.items() if not moves) | {
    EventKind.REJECTED.value
}
"""Rows that say how an attempt, or a task that was waiting, ended."""

_log = logging.getLogger(__name__)


class Journal:
    """Reads the event stream on from where `begin` found it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._after = "0"
        self._number: int | None = None

    async def begin(self) -> None:
        """Take note of the newest event: what comes after it will be logged.

        Raises:
            StoreError: the server could not be asked.
        """
        newest = await self._store.command("XREVRANGE", self._store.keys.events, "+", "-", "COUNT", 1)
        if newest:
            self._after = newest[0][0].decode()

    async def follow(self) -> None:
        """Log what happens, until cancelled. Waits while the server is away."""
        retry = StoreRetry("the event stream", _log, system_rng())
        while True:
            await retry.attempt(self._read)

    async def _read(self) -> None:
        self._tell(await self._store.events(self._after, _PAGE, _WAIT_MS))

    async def finish(self) -> None:
        """Log what is there and has not been logged."""
        while events := await self._store.events(self._after, _PAGE):
            self._tell(events)

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            if self._number is not None and event.number > self._number + 1:
                missing = event.number - self._number - 1
                _log.warning("%d events were dropped from the stream before they were read", missing)
            self._after, self._number = event.stream_id, event.number
            for row in event.rows:
                _tell_row(row)


def _tell_row(row: tuple[Scalar, ...]) -> None:
    if row[0] == EventKind.CAPACITY:
        _, before, after, reason = row
        _log.info("capacity %s -> %s: %s", before, after, reason)
    elif row[0] in _ENDS:
        kind, tenant, task, fence, actual, _, _, state, _ = row
        level = logging.INFO if state in _ENDED else logging.DEBUG
        how = f"attempt {fence} {kind}, {actual} units" if fence else "it was waiting"
        _log.log(level, "task %s:%s %s: %s", tenant, task, state, how)
