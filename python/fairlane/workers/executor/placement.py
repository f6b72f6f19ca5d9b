"""Finds a worker for each attempt: keeps the strategy in step with the group, and fails waits that are pointless."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, Final

from fairlane.clock import Clock
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import SLOT_WAIT, WAITING
from fairlane.workers.errors import WorkerError, WorkerErrorCode, shown
from fairlane.workers.executor.slot_queue import SlotQueue
from fairlane.workers.executor.worker import Worker
from fairlane.workers.members.events import MemberEvent, MemberEventKind
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.member import Member
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.strategies.base import Candidate, Strategy

_VIABLE: Final = frozenset({WorkerStatus.CREATED, WorkerStatus.STARTING, WorkerStatus.READY, WorkerStatus.BUSY})


class Placement:
    """Hands out slots while it is open. Waiting callers get an error at once when no viable worker is left."""

    def __init__(
        self,
        group: WorkerGroup[Any],
        strategy: Strategy,
        strategy_name: str,
        *,
        queue_limit: int,
        will_restart: Callable[[str], bool],
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        """``will_restart`` says whether a supervisor will restart a failed worker."""
        self._group = group
        self._strategy = strategy
        self._strategy_name = strategy_name
        self._queue: SlotQueue[Worker] = SlotQueue(queue_limit, self._choose)
        self._will_restart = will_restart
        self._clock = clock
        self._telemetry = telemetry
        self._viable: set[str] = set()
        """Workers that accept tasks now or may do so later."""
        self._is_open = False
        self._unsubscribe: Callable[[], None] = lambda: None

    def open(self) -> None:
        """Begin to follow the group.

        Raises WorkerError: invalid_configuration: the strategy rejects a member.
        """
        self._is_open = True
        self._unsubscribe = self._group.subscribe(self._on_event)
        for member in self._group.list():
            self._reconcile(member)

    def close(self) -> None:
        """Hand out no more slots, and fail all waiting callers."""
        self._is_open = False
        self._unsubscribe()
        self._viable.clear()
        self._queue.notify()

    async def acquire(self, avoid: Collection[str]) -> Worker:
        """Return a worker with a free slot. The caller must fill the slot before it suspends again.

        Returns a worker in ``avoid`` only if no other has a free slot.

        Raises:
            WorkerError: no_workers_available, queue_full; invalid_configuration: the strategy failed.
        """
        began_s = self._clock.monotonic_s()
        self._telemetry.add(WAITING, 1, self._strategy_name)
        try:
            worker = await self._queue.acquire(avoid)
        finally:
            self._telemetry.add(WAITING, -1, self._strategy_name)
        self._telemetry.observe(SLOT_WAIT, self._clock.monotonic_s() - began_s, self._strategy_name)
        return worker

    def refresh(self, worker_id: str) -> None:
        """Read a worker's state again, including whether it will be restarted."""
        if self._is_open and worker_id in self._group:
            self._reconcile(self._group.get(worker_id))

    def _reconcile(self, member: Member) -> None:
        """Pass a member's present state to the strategy. A member that the strategy rejects is not viable."""
        candidate = self._candidate(member)
        may_accept_tasks = member.status in _VIABLE or self._will_restart(member.id)
        is_viable = False
        try:
            self._strategy.put(candidate)
            is_viable = may_accept_tasks and not self._group.leaving(member.id)
        except Exception as error:
            raise self._strategy_error(f"rejected worker {member.id}: {shown(error)}") from error
        finally:
            if is_viable:
                self._viable.add(member.id)
            else:
                self._viable.discard(member.id)
            if candidate.available or not self._viable:
                self._queue.notify()

    def _candidate(self, member: Member) -> Candidate:
        info, metrics = member.info, member.metrics
        return Candidate(
            id=info.id,
            capacity=info.capacity,
            load=member.load,
            ready=self._group.accepts_tasks(member.id),
            weight=info.weight,
            latency_s=metrics.latency_s,
            error_rate=metrics.error_rate,
            ended=metrics.successes + metrics.failures,
        )

    def _on_event(self, event: MemberEvent) -> None:
        if event.kind is not MemberEventKind.REMOVED:
            self._reconcile(event.member)
            return
        self._viable.discard(event.member.id)
        if not self._viable:
            self._queue.notify()
        self._strategy.remove(event.member.id)

    def _choose(self, avoid: Collection[str]) -> Worker | None:
        if not self._viable:
            raise WorkerError(WorkerErrorCode.NO_WORKERS_AVAILABLE, f"no worker to wait for: {self._why_none()}")
        try:
            worker_id = self._strategy.choose(avoid)
            if worker_id is None and avoid:
                worker_id = self._strategy.choose()
        except Exception as error:
            raise self._strategy_error(f"failed to choose a worker: {shown(error)}") from error
        if worker_id is None:
            return None
        if worker_id not in self._group:
            raise self._strategy_error(f"chose {shown(worker_id, ascii)[:60]}, which is not a worker of the group")
        worker: Worker = self._group.get(worker_id)
        return worker

    def _strategy_error(self, text: str) -> WorkerError:
        return WorkerError(
            WorkerErrorCode.INVALID_CONFIGURATION,
            f"strategy {self._strategy_name} {text}",
            strategy=self._strategy_name,
        )

    def _why_none(self) -> str:
        if not self._is_open:
            return "the manager is not running"
        counts = Counter(member.status for member in self._group.list())
        return ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "the group is empty"
