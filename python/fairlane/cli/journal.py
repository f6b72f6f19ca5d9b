"""Logs the ends of tasks and the changes of the capacity, from the event stream.

Ray runs the processes that run tasks and keeps their logs in its own files; the stream has the results of all of them.
"""

import logging
from typing import Final

from fairlane.backoff import StoreRetry
from fairlane.clock import system_rng
from fairlane.domain.events import CapacityRow, ClockRow, EndRow, Event, Row
from fairlane.store.store import Store

_PAGE: Final = 1000
_WAIT_MS: Final = 60_000

_log = logging.getLogger(__name__)


class Journal:
    """Logs the events that come after `begin`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._after = "0"
        self._number: int | None = None

    async def begin(self) -> None:
        """Remember the newest event. Later ones will be logged.

        Raises:
            StoreError: the server did not answer.
        """
        self._after = await self._store.last_event_id()

    async def follow(self) -> None:
        """Log events as they come, until cancelled. Retries while the server is unavailable."""
        retry = StoreRetry("cannot read the event stream, will retry", _log, system_rng())
        while True:
            await retry.attempt(self._read)

    async def _read(self) -> None:
        self._log_events(await self._store.events(self._after, _PAGE, _WAIT_MS))

    async def finish(self) -> None:
        """Log the events that have not been logged yet."""
        while events := await self._store.events(self._after, _PAGE):
            self._log_events(events)

    def _log_events(self, events: list[Event]) -> None:
        for event in events:
            if self._number is not None and event.number > self._number + 1:
                missing = event.number - self._number - 1
                _log.warning("%d events were dropped from the stream before they were read", missing)
            self._after, self._number = event.stream_id, event.number
            for row in event.rows:
                _log_row(row)


def _log_row(row: Row) -> None:
    if isinstance(row, ClockRow):
        _log.warning("the server's clock was set back by %d ms; the pool's time continues", row.back_ms)
    elif isinstance(row, CapacityRow):
        _log.info("capacity %s -> %s: %s", row.before, row.after, row.reason)
    elif isinstance(row, EndRow):
        level = logging.INFO if row.state.ended else logging.DEBUG
        how = f"attempt {row.fence} {row.end}, {row.actual} units" if row.fence else "it was waiting"
        _log.log(level, "task %s %s: %s", row.ref, row.state, how)
