"""Brings the ends of tasks from the store to the handles of one client.

The store keeps a list of ended tasks per client and rings its bell; the list is read from a cursor, so a lost reply
is read again. What such a list cannot bring (the task of an earlier client, a list that a dead server took along) is
found by asking for the tasks themselves, a few per heartbeat, and more as soon as that finds something.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import islice
from typing import Final

from fairlane.backoff import StoreRetry
from fairlane.clock import Clock, Rng
from fairlane.domain.task import TaskRef, TaskView
from fairlane.lifecycle.handle import TaskHandle, forgotten
from fairlane.lifecycle.sleeper import Sleeper
from fairlane.store.keys import client_bell
from fairlane.store.store import Store

_LIMIT: Final = 256
_SAMPLE: Final = 64
"""Open tasks asked for per heartbeat, in case their end was not told."""
_BUSY: Final = 16
"""Ends brought by one call from which on the collector lets a batch grow instead of listening for the bell."""
_BUSY_PAUSE_S: Final = 0.002

_log = logging.getLogger(__name__)


class Collector:
    """The open handles of one client, and the loop that ends them."""

    def __init__(
        self,
        store: Store,
        client: str,
        *,
        heartbeat_s: float,
        clock: Clock,
        rng: Rng,
        ended: Callable[[int, TaskView], None],
    ) -> None:
        self._store = store
        self._ended = ended
        """Told of each estimated task's end, with its estimate."""
        self._client = client
        self._heartbeat_s = heartbeat_s
        self._clock = clock
        self._sleeper = Sleeper(store, client_bell(client), heartbeat_s=heartbeat_s, rng=rng)
        self._retry = StoreRetry(f"client {client} cannot collect results", _log, rng)
        self._open: dict[TaskRef, TaskHandle] = {}
        self._foreign: dict[TaskRef, TaskHandle] = {}
        self._some_open = asyncio.Event()
        self._cursor = 0
        self._sweep_at_s = clock.monotonic_s() + heartbeat_s
        self._untold: set[TaskRef] = set()

    def known(self, ref: TaskRef) -> TaskHandle | None:
        """Return the open handle of a task."""
        return self._open.get(ref)

    def add(self, handle: TaskHandle) -> None:
        """Take a handle on: before its submission is sent, since its end may arrive before the reply."""
        self._open[handle.ref] = handle
        if not self._some_open.is_set():
            self._some_open.set()

    def remove(self, handle: TaskHandle) -> None:
        """Give a handle up whose task was refused."""
        if self._open.get(handle.ref) is handle:
            del self._open[handle.ref]

    def ask_for(self, handle: TaskHandle) -> None:
        """Somebody waits for a task whose end another client may be told: ask for it now and every heartbeat."""
        self._foreign[handle.ref] = handle
        self._sweep_at_s = 0.0
        self._sleeper.wake()

    async def run(self) -> None:
        """Collect until cancelled."""
        try:
            while True:
                await self._retry.attempt(self._turn)
        finally:
            await self._sleeper.close()

    async def _turn(self) -> None:
        if not self._open:
            self._some_open.clear()
            await self._some_open.wait()
        now_s = self._clock.monotonic_s()
        if now_s >= self._sweep_at_s:
            await self._sweep()
            self._sweep_at_s = now_s + self._heartbeat_s
        brought = 0
        if self._sleeper.rung:
            self._sleeper.rung = False
            brought = await self._collect()
        if brought >= _BUSY:
            self._sleeper.rung = True
            await asyncio.sleep(_BUSY_PAUSE_S)
        else:
            await self._sleeper.sleep()

    async def _collect(self) -> int:
        brought = 0
        while True:
            collected = await self._store.collect(self._client, self._cursor, _LIMIT)
            self._cursor = collected.cursor
            for view in collected.tasks:
                self._end(view)
                if self._untold:
                    self._untold.discard(view.ref)
            brought += len(collected.tasks)
            if not collected.more:
                return brought

    def _end(self, view: TaskView) -> None:
        handle = self._open.pop(view.ref, None)
        if handle is not None:
            if handle.foreign:
                self._foreign.pop(view.ref, None)
            if handle.estimate is not None:
                self._ended(handle.estimate, view)
            handle.end(view)

    async def _sweep(self) -> None:
        """Ask for tasks as long as that finds ends which `collect` does not tell."""
        for handles, first in ((self._foreign, _LIMIT), (self._open, _SAMPLE)):
            size = first
            for _ in range(len(handles) // _LIMIT + 1):
                if not await self._ask(_oldest(handles, size)):
                    break
                size = _LIMIT

    async def _ask(self, handles: list[TaskHandle]) -> bool:
        """Ask for these; true if one had ended untold."""
        if not handles:
            return False
        views = await self._store.get([handle.ref for handle in handles])
        untold = self._untold
        untold.clear()
        for handle, view in zip(handles, views, strict=True):
            if handle.ended:
                continue
            if view is None:
                self.remove(handle)
                self._foreign.pop(handle.ref, None)
                handle.end(forgotten(handle.ref))
                untold.add(handle.ref)
            elif view.state.ended:
                self._end(view)
                untold.add(handle.ref)
        if untold:
            await self._collect()
        return bool(untold)


def _oldest(handles: dict[TaskRef, TaskHandle], count: int) -> list[TaskHandle]:
    """Take the handles asked longest ago, and put them behind the others."""
    oldest = list(islice(handles.values(), count))
    for handle in oldest:
        del handles[handle.ref]
        handles[handle.ref] = handle
    return [handle for handle in oldest if handle.admitted]
