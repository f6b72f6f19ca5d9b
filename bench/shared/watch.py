"""Reads a scheduler's event stream while a scenario runs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bench.shared.evidence import Evidence
from bench.shared.recorder import Recorder
from fairlane.store.store import Store

_PAGE = 1_000
_BLOCK_MS = 100


class Watch:
    """Follows the stream from its beginning."""

    def __init__(self, store: Store) -> None:
        self.recorder = Recorder()
        self._store = store
        self._after = "0"
        self._reading = asyncio.Lock()
        self._news = asyncio.Event()

    async def follow(self) -> None:
        """Read until cancelled."""
        while True:
            await self._read(_BLOCK_MS)

    async def catch_up(self, number: int, timeout_s: float) -> None:
        """Read on until the event with this number.

        Raises:
            TimeoutError: it did not appear in time.
        """
        async with asyncio.timeout(timeout_s):
            while self.recorder.evidence.last_number < number:
                await self._read(None)

    async def until(self, condition: Callable[[Evidence], bool], timeout_s: float) -> None:
        """Wait until the evidence read so far fulfils the condition. ``follow`` must run meanwhile.

        Raises:
            TimeoutError: it did not in time.
        """
        async with asyncio.timeout(timeout_s):
            while not condition(self.recorder.evidence):
                self._news.clear()
                await self._news.wait()

    async def _read(self, block_ms: int | None) -> None:
        async with self._reading:
            events = await self._store.events(self._after, _PAGE, block_ms)
            if events:
                self._after = events[-1].stream_id
                self.recorder.read(events)
                self._news.set()


@asynccontextmanager
async def watching(store: Store) -> AsyncIterator[Watch]:
    """Read the stream in the background for as long as the context lasts.

    Raises:
        MalformedEvent, StoreUnavailable: the reading failed; raised when the context ends.
    """
    watch = Watch(store)
    reading = asyncio.create_task(watch.follow())
    try:
        yield watch
    finally:
        failed = reading.done()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    if failed:
        reading.result()
