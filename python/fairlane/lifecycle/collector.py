"""Owns the open handles of one client, and ends each when the store reports the end of its task.

The store keeps a list of ended tasks per client and rings the client's bell. The collector reads the list from a
cursor, so it reads a lost reply again. Some ends are not in the list: the task of an earlier client, or a list that a
dead server lost. The collector finds these by reading the tasks themselves, a few per heartbeat, and more as soon as
it finds one.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import islice
from typing import Final

from fairlane.backoff import StoreRetry
from fairlane.clock import Clock, Rng
from fairlane.domain.task import TaskRef, TaskView
from fairlane.errors import StoreError
from fairlane.lifecycle.handle import TaskClient, TaskHandle, forgotten
from fairlane.lifecycle.records import read_tasks
from fairlane.lifecycle.sleeper import Sleeper
from fairlane.store.keys import client_bell
from fairlane.store.messages import Submission
from fairlane.store.store import Store

_LIMIT: Final = 256
"""Tasks that the collector reads at once."""
_SAMPLE: Final = 64
"""Open tasks that the collector reads per heartbeat, in case the store's list lacks their end."""
_BUSY: Final = 16
"""From this many ends per collect on, the collector waits for the next batch to grow instead of for the bell."""
_BUSY_PAUSE_S: Final = 0.002

_log = logging.getLogger(__name__)


class Collector:
    """The open handles of one client, and the loop that ends them.

    ``ended`` is called with the estimate and the end of each task whose cost the client estimated.
    """

    def __init__(
        self,
        store: Store,
        client: TaskClient,
        client_id: str,
        *,
        heartbeat_s: float,
        clock: Clock,
        rng: Rng,
        ended: Callable[[int, TaskView], None],
    ) -> None:
        self._store = store
        self._ended = ended
        self._client = client
        self._client_id = client_id
        self._heartbeat_s = heartbeat_s
        self._clock = clock
        self._sleeper = Sleeper(store, client_bell(client_id), heartbeat_s=heartbeat_s, rng=rng)
        self._retry = StoreRetry(f"client {client_id} cannot collect results", _log, rng)
        self._open: dict[TaskRef, TaskHandle] = {}
        self._foreign: dict[TaskRef, TaskHandle] = {}
        self._some_open = asyncio.Event()
        self._cursor = "0"
        self._sweep_at_s = clock.monotonic_s() + heartbeat_s
        self._unlisted: set[TaskRef] = set()
        """Ends that the last sweep found and that the store's list had not brought."""

    def open(self, submission: Submission) -> TaskHandle:
        """Return the handle of a task that is about to be sent; its end can arrive before the reply to the submit.

        A task that its caller named has one handle for as long as it is open.
        """
        ref = submission.ref
        handle = self._open.get(ref) if submission.named_by_caller else None
        if handle is None:
            handle = TaskHandle(self._client, ref, submission.estimate or None)
            self._add(handle)
        return handle

    def admit(self, handle: TaskHandle, *, existing: bool) -> None:
        """Record that the store accepted the task; ``existing``: it knew the task from an earlier submit."""
        if existing and not handle.admitted:
            handle.foreign = True
        handle.admitted = True
        if not handle.ended:
            self._add(handle)

    def give_up(self, handle: TaskHandle) -> None:
        """Drop a handle whose submit failed or was refused, unless another submit of the task was accepted."""
        if not handle.admitted:
            self._remove(handle)

    def ask_for(self, handle: TaskHandle) -> None:
        """Read a foreign task now and at every heartbeat, because a caller waits for its end."""
        self._foreign[handle.ref] = handle
        self._sweep_at_s = 0.0
        self._sleeper.wake()

    def start_over(self) -> None:
        """Read the store's list from its beginning, and sweep now: a server without its data has a new list."""
        self._cursor = "0"
        self._sweep_at_s = 0.0
        self._sleeper.rung = True
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
            collected = await self._store.collect(self._client_id, self._cursor)
            self._cursor = collected.cursor
            for view in collected.tasks:
                self._end(view)
                if self._unlisted:
                    self._unlisted.discard(view.ref)
            brought += len(collected.tasks)
            damaged = [self._open[ref] for ref in collected.damaged if ref in self._open]
            if damaged:
                brought += len(await self._read_ends(damaged))
            if not collected.more:
                return brought

    def _add(self, handle: TaskHandle) -> None:
        self._open[handle.ref] = handle
        if not self._some_open.is_set():
            self._some_open.set()

    def _remove(self, handle: TaskHandle) -> None:
        if self._open.get(handle.ref) is handle:
            del self._open[handle.ref]

    def _end(self, view: TaskView) -> None:
        handle = self._open.pop(view.ref, None)
        if handle is not None:
            if handle.foreign:
                self._foreign.pop(view.ref, None)
            if handle.estimate is not None:
                self._ended(handle.estimate, view)
            handle.end(view)

    async def _sweep(self) -> None:
        """Fire what is due, and read tasks for as long as this finds ends that the store's list has not brought."""
        await self._fire()
        for handles, first in ((self._foreign, _LIMIT), (self._open, _SAMPLE)):
            size = first
            for _ in range(len(handles) // _LIMIT + 1):
                if not await self._read(_oldest(handles, size)):
                    break
                size = _LIMIT

    async def _fire(self) -> None:
        """Let deadlines end tasks also while no dispatcher runs. A store that cannot may still have ends to read."""
        try:
            await self._store.fire()
        except StoreError as error:
            _log.debug("client %s cannot fire what is due: %s", self._client_id, error)

    async def _read(self, handles: list[TaskHandle]) -> bool:
        """Read the tasks of these handles; true if one had ended and was not in the store's list."""
        if not handles:
            return False
        self._unlisted.clear()
        self._unlisted |= await self._read_ends(handles)
        if self._unlisted:
            await self._collect()
        return bool(self._unlisted)

    async def _read_ends(self, handles: list[TaskHandle]) -> set[TaskRef]:
        """Read the tasks of these handles, and end the handles of those that have ended or cannot be read."""
        ends = set()
        for handle, view in zip(
            handles, await read_tasks(self._store, [handle.ref for handle in handles]), strict=True
        ):
            if handle.ended or (isinstance(view, TaskView) and not view.state.ended):
                continue
            if isinstance(view, TaskView):
                self._end(view)
            else:
                self._remove(handle)
                self._foreign.pop(handle.ref, None)
                handle.end(view or forgotten(handle.ref))
            ends.add(handle.ref)
        return ends


def _oldest(handles: dict[TaskRef, TaskHandle], count: int) -> list[TaskHandle]:
    """Return the admitted ones among the handles read longest ago, and move all of those behind the others."""
    oldest = list(islice(handles.values(), count))
    for handle in oldest:
        del handles[handle.ref]
        handles[handle.ref] = handle
    return [handle for handle in oldest if handle.admitted]
