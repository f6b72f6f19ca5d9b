"""Which worker an attempt gets: keeps a strategy up to date with a pool, and knows whether waiting is of any use."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, Final

from fairlane.clock import Clock
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import SLOT_WAIT, WAITING
from fairlane.workers.errors import WorkerError, WorkerErrorCode, shown
from fairlane.workers.executor.slot_queue import SlotQueue
from fairlane.workers.members.events import MemberEvent, MemberEventKind
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member, Worker
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.strategies.base import Strategy

_PROMISING: Final = frozenset({WorkerStatus.CREATED, WorkerStatus.STARTING, WorkerStatus.READY, WorkerStatus.BUSY})


class Placement:
    """Hands out slots while it is open; who waits is told at once when no worker is left to wait for."""

    def __init__(
        self,
        pool: WorkerGroup[Any],
        strategy: Strategy,
        strategy_name: str,
        *,
        queue_limit: int,
        will_restart: Callable[[str], bool],
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        """``will_restart`` says whether somebody brings back a worker that has failed."""
        self._pool = pool
        self._strategy = strategy
        self._strategy_name = strategy_name
        self._queue: SlotQueue[Worker] = SlotQueue(queue_limit, self._choose)
        self._will_restart = will_restart
        self._clock = clock
        self._telemetry = telemetry
        self._promising: set[str] = set()
        """Workers that take tasks now or may do so later."""
        self._is_open = False
        self._unsubscribe: Callable[[], None] = lambda: None

    def open(self) -> None:
        """Begin to follow the pool.

        Raises WorkerError: invalid_configuration: the strategy does not take in a member.
        """
        self._is_open = True
        self._unsubscribe = self._pool.subscribe(self._see)
        for member in self._pool.list():
            self._settle(member)

    def close(self) -> None:
        """Hand out nothing any more, and tell all who wait."""
        self._is_open = False
        self._unsubscribe()
        self._promising.clear()
        self._queue.wake()

    async def take(self, avoid: Collection[str]) -> Worker:
        """Return a worker with a free slot, to be filled before the caller suspends again.

        It is none of those to avoid, unless no other has a free slot.

        Raises:
            WorkerError: no_workers_available, queue_full; invalid_configuration: the strategy does not choose.
        """
        began_s = self._clock.monotonic_s()
        self._telemetry.add(WAITING, 1, self._strategy_name)
        try:
            worker = await self._queue.take(avoid)
        finally:
            self._telemetry.add(WAITING, -1, self._strategy_name)
        self._telemetry.observe(SLOT_WAIT, self._clock.monotonic_s() - began_s, self._strategy_name)
        return worker

    def reconsider(self, worker_id: str) -> None:
        """Ask anew whether somebody brings this worker back."""
        if self._is_open and worker_id in self._pool:
            self._settle(self._pool.get(worker_id))

    def _settle(self, member: Member) -> None:
        """Take note of what is true of a member of the pool now. One that the strategy does not know is no hope."""
        candidate = self._pool.candidate(member)
        may_come = member.status in _PROMISING or self._will_restart(member.id)
        is_hope = False
        try:
            self._strategy.put(candidate)
            is_hope = may_come and not self._pool.leaving(member.id)
        except Exception as error:
            raise self._fault(f"did not take in worker {member.id}: {shown(error)}") from error
        finally:
            if is_hope:
                self._promising.add(member.id)
            else:
                self._promising.discard(member.id)
            if candidate.available or not self._promising:
                self._queue.wake()

    def _see(self, event: MemberEvent) -> None:
        if event.kind is not MemberEventKind.REMOVED:
            self._settle(event.member)
            return
        self._promising.discard(event.member.id)
        if not self._promising:
            self._queue.wake()
        self._strategy.remove(event.member.id)

    def _choose(self, avoid: Collection[str]) -> Worker | None:
        if not self._promising:
            raise WorkerError(WorkerErrorCode.NO_WORKERS_AVAILABLE, f"no worker to wait for: {self._why_none()}")
        try:
            worker_id = self._strategy.choose(avoid)
            if worker_id is None and avoid:
                worker_id = self._strategy.choose()
        except Exception as error:
            raise self._fault(f"did not choose: {shown(error)}") from error
        if worker_id is None:
            return None
        if worker_id not in self._pool:
            raise self._fault(f"chose {shown(worker_id, ascii)[:60]}, which is no worker of the pool")
        worker: Worker = self._pool.get(worker_id)
        return worker

    def _fault(self, text: str) -> WorkerError:
        return WorkerError(
            WorkerErrorCode.INVALID_CONFIGURATION,
            f"strategy {self._strategy_name} {text}",
            strategy=self._strategy_name,
        )

    def _why_none(self) -> str:
        if not self._is_open:
            return "the manager does not run"
        counts = Counter(member.status for member in self._pool.list())
        return ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "the pool is empty"
