"""The reference world's pool and tenants, and the dispatch decision."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from fairlane._core import Scheduler
from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.events import EndRow, EnqueuedRow, EnteredRow, ParkedRow, PendingRow, ReadyRow, ReleasedRow, Row
from fairlane.domain.policy import ParkReason, QueuePolicy, StopReason, ThrottleScope
from fairlane.domain.task import TaskRef, TaskState
from fairlane.errors import ConfigError
from fairlane.store.messages import Submission, SubmitStatus
from tests.support import world_operations as ops
from tests.support.oracle_strict import StrictOrder
from tests.support.world_model import (
    ACTIVE,
    DEFAULT_PAUSE_MS,
    ENQUEUED,
    FEWEST_TENANTS,
    HARD_LIMIT,
    MAX_ATTEMPTS,
    MAX_RECOVERIES,
    MOST_TENANTS,
    PENDING,
    QUEUE_LIMIT,
    WAITING,
    WORKER_SLOTS,
    Call,
    Task,
    Worker,
    picked,
    tenant_id,
)

T = TypeVar("T")


@dataclass
class PoolReference:
    """The expected state: a scheduler (Rust's, or one in strict order), and what tasks and workers add to it.

    `decisions` and `rejections` are the event rows the store must write, in order; `moves` are the rows for
    tenants that enter the calendar, or leave it because of their own ceilings, in any order.
    """

    setup: ops.Setup
    now: int = 1_000_000
    paused_until: int = 0
    pool_ceiling: int = 0
    tenants: list[int] = field(default_factory=list)
    tasks: dict[int, Task] = field(default_factory=dict)
    ended: dict[TaskRef, str] = field(default_factory=dict)
    workers: tuple[Worker, Worker] = field(default_factory=lambda: (Worker("w0"), Worker("w1")))
    decisions: list[Row] = field(default_factory=list)
    rejections: list[Row] = field(default_factory=list)
    moves: Counter[Row] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        quantum, policy = self.setup.quantum, self.setup.policy
        self.scheduler: Scheduler | StrictOrder = (
            Scheduler(quantum, HARD_LIMIT)
            if policy is QueuePolicy.WDRR
            else StrictOrder(quantum, HARD_LIMIT, by_arrival=policy is QueuePolicy.FIFO)
        )
        self._joined = 0
        self._submitted = 0
        self._looks = False
        self._plan: list[str] = []
        """The incarnations of the places that the last dispatch left for tasks to come."""

    @property
    def paused(self) -> bool:
        return self.paused_until > self.now

    def begin(self) -> Iterator[Call]:
        """Set the pool up."""
        yield self._put_pool()
        yield from self.set_capacity(ops.SetCapacity(self.setup.capacity))
        for limits in self.setup.tenants:
            yield from self.join(ops.Join(limits))
        for worker in self.workers:
            yield self.register(worker)

    def in_state(self, *states: str) -> list[Task]:
        """Return the live tasks in these states, oldest first."""
        return [task for task in self.tasks.values() if task.state in states]

    def held(self, incarnation: str) -> list[Task]:
        """Return the tasks an incarnation has, in the order it was handed them."""
        tasks = [task for task in self.in_state(ENQUEUED, ACTIVE) if task.incarnation == incarnation]
        return sorted(tasks, key=lambda task: task.fence)

    def act(self, tenant: int, action: Callable[[], T], *, refund: bool = False) -> T:
        """Change a tenant; if it enters the calendar, note its deficit, before the refund if there is one."""
        before = self.scheduler.tenant(tenant)
        result = action()
        after = self.scheduler.tenant(tenant)
        deficit = min(0, before.deficit) if refund and after.place == "calendar" else after.deficit
        if before.parked_by and not after.parked_by:
            self.moves[ReleasedRow(tenant_id(tenant), deficit)] += 1
        elif before.place == "idle" and after.place == "calendar" and deficit != 0:
            self.moves[EnteredRow(tenant_id(tenant), deficit)] += 1
        return result

    def register(self, worker: Worker) -> Call:
        """Return the call with which a worker's present life begins."""
        return Call("register", (worker.name, worker.incarnation, WORKER_SLOTS), 3_600_000)

    # -- tenants and the pool ----------------------------------------------------------------------------------

    def _put(self, tenant: int, limits: ops.Limits, fresh: int) -> Call:
        arguments = (tenant, limits.weight, limits.slots, limits.cost)
        if fresh:
            self.scheduler.put_tenant(*arguments)
        else:
            self.act(tenant, lambda: self.scheduler.put_tenant(*arguments))
        config = TenantConfig(
            weight=limits.weight,
            slots=limits.slots or None,
            cost_ceiling_units=limits.cost or None,
            queue_limit=QUEUE_LIMIT,
        )
        return Call("put_tenants", ({tenant_id(tenant): config},), fresh)

    def join(self, operation: ops.Join) -> Iterator[Call]:
        """Add a tenant, unless there are already many."""
        if self._joined >= len(self.setup.tenants) and len(self.tenants) >= MOST_TENANTS:
            return
        self._joined += 1
        self.tenants.append(self._joined)
        yield self._put(self._joined, operation.limits, fresh=1)

    def change(self, operation: ops.Change) -> Iterator[Call]:
        for tenant in picked(self.tenants, operation.tenant):
            yield self._put(tenant, operation.limits, fresh=0)

    def leave(self, operation: ops.Leave) -> Iterator[Call]:
        for tenant in picked(self.tenants, operation.tenant) if len(self.tenants) > FEWEST_TENANTS else []:
            busy = any(task.tenant == tenant for task in self.tasks.values())
            if not busy:
                self.tenants.remove(tenant)
            yield Call("remove_tenant", (tenant_id(tenant),), ConfigError if busy else True)

    def _put_pool(self) -> Call:
        config = PoolConfig(
            resume_ramp_ms=0,
            policy=self.setup.policy,
            slots=HARD_LIMIT,
            cost_ceiling_units=self.pool_ceiling or None,
            quantum_units=self.setup.quantum,
            max_attempts=MAX_ATTEMPTS,
            max_recoveries=MAX_RECOVERIES,
            lease_ms=3_600_000,
            throttle_scope=ThrottleScope.TASK,
            default_pause_ms=DEFAULT_PAUSE_MS,
        )
        return Call("put_pool", (config,), None)

    def set_capacity(self, operation: ops.SetCapacity) -> Iterator[Call]:
        self.scheduler.set_capacity(operation.slots)
        yield Call("set_capacity", (operation.slots,), operation.slots)

    def set_pool_ceiling(self, operation: ops.SetPoolCeiling) -> Iterator[Call]:
        self._looks |= operation.cost > 0 and not 0 < self.pool_ceiling <= operation.cost
        self.pool_ceiling = operation.cost
        self.scheduler.set_pool_cost_ceiling(operation.cost)
        yield self._put_pool()

    def pause(self, operation: ops.Pause) -> Iterator[Call]:
        self.paused_until = max(self.paused_until, self.now + operation.duration_ms)
        yield Call("pause", (operation.duration_ms,), None)

    def resume(self, _: ops.Resume) -> Iterator[Call]:
        self.paused_until = 0
        yield Call("resume", (), None)

    def advance(self, operation: ops.Advance) -> Iterator[Call]:
        self.now += operation.duration_ms
        for worker in self.workers:
            held = len(self.held(worker.incarnation))
            yield Call("heartbeat", (worker.incarnation,), held, lambda beat: beat.held)

    # -- the queue ---------------------------------------------------------------------------------------------

    def submit(self, operation: ops.Submit) -> Iterator[Call]:
        batch, statuses = [], []
        waited = self._runnable
        for pick, cost, priority in operation.tasks:
            (tenant,) = picked(self.tenants, pick)
            self._submitted += 1
            task = Task(self._submitted, tenant, cost)
            batch.append(Submission(task.ref, cost, b"", bytes(32), priority=priority))
            arguments = (tenant, task.number, cost, priority)
            try:
                self.act(tenant, partial(self.scheduler.submit, *arguments))
            except ValueError:
                statuses.append(SubmitStatus.COST_ABOVE_CEILING)
            else:
                statuses.append(SubmitStatus.ACCEPTED)
                self.tasks[task.number] = task
                self.decisions.append(PendingRow(task.ref.tenant, task.ref.id, cost, priority))
        self._place_planned(0 if waited else statuses.count(SubmitStatus.ACCEPTED))
        yield Call("submit", (batch, "client"), statuses, lambda answer: [each.status for each in answer])

    @property
    def _runnable(self) -> bool:
        return any(self.scheduler.tenant(index).place == "calendar" for index in self.tenants)

    def _place_planned(self, count: int) -> None:
        """Place as many tasks by the plan, unless it has fewer places."""
        if count <= len(self._plan):
            planned, self._plan = self._plan[:count], self._plan[count:]
            live = {worker.incarnation for worker in self.workers}
            self.place([each for each in planned if each in live], 0 if self.paused else count)
            for worker in self.workers:
                worker.share = 0 if worker.incarnation in planned else worker.share

    def _end_waits(self) -> None:
        due = [task for task in self.in_state(WAITING) if task.ready_at <= self.now]
        for task in sorted(due, key=lambda task: (task.ready_at, str(task.ref))):
            self.act(task.tenant, partial(self.scheduler.resume, task.number))
            task.state = PENDING
            self.decisions.append(ReadyRow(task.ref.tenant, task.ref.id))

    def _look_at_parked(self) -> None:
        """After a lowered ceiling of the pool: a tenant whose next task can never run is no longer parked."""
        for index in self.tenants if self._looks else []:
            tenant = self.scheduler.tenant(index)
            if tenant.parked_by:
                limits = (index, tenant.weight, tenant.slot_ceiling, tenant.cost_ceiling)
                self.act(index, partial(self.scheduler.put_tenant, *limits))
        self._looks = False

    def dispatch(self, operation: ops.Dispatch) -> Iterator[Call]:
        self._end_waits()
        self._look_at_parked()
        free = {worker.incarnation: WORKER_SLOTS - len(self.held(worker.incarnation)) for worker in self.workers}
        offers = list(zip(free, operation.offer, strict=True))
        places = [incarnation for incarnation, offer in offers for _ in range(min(offer, free[incarnation]))]
        for worker, (_, offer) in zip(self.workers, offers, strict=True):
            worker.share = max(0, -offer)
        unused = len(self._plan)
        placed, more = self.place(places, 0 if self.paused else operation.limit)
        kept = None
        if operation.knows or not unused:
            self._plan = [] if self._runnable else places[placed:][: operation.keep]
            kept = len(self._plan)
        for incarnation in places[:placed]:
            free[incarnation] -= 1
        yield Call(
            "dispatch",
            (offers, operation.limit, operation.keep, unused if operation.knows else unused + 1),
            (placed, free, more, unused, kept),
            lambda answer: (
                answer.placed,
                answer.free,
                answer.stop is StopReason.VISITS,
                answer.unused,
                answer.kept,
            ),
        )

    def place(self, places: list[str], limit: int) -> tuple[int, bool]:
        """Let the scheduler choose tasks for these workers. Return how many, and whether another call may find more."""
        parked = {index for index in self.tenants if self.scheduler.tenant(index).parked_by}
        placed, rejected, more = self.scheduler.dispatch(limit, len(places))
        for index in self.tenants:
            reason = self.scheduler.tenant(index).parked_by
            if reason and index not in parked:
                self.moves[ParkedRow(tenant_id(index), ParkReason(reason))] += 1
        for (_, number, fence, charge, deficit, owed), incarnation in zip(placed, places, strict=False):
            task = self.tasks[number]
            task.state, task.fence, task.charge, task.incarnation = ENQUEUED, fence, charge, incarnation
            self.decisions.append(
                EnqueuedRow(task.ref.tenant, task.ref.id, fence, task.cost, charge, incarnation, deficit, owed)
            )
        for number in rejected:
            task = self.tasks.pop(number)
            self.ended[task.ref] = "rejected"
            ratio = self.scheduler.tenant(task.tenant).ratio
            rejected_as = TaskState.REJECTED
            self.rejections.append(EndRow(rejected_as, task.ref.tenant, task.ref.id, 0, 0, 0, ratio, rejected_as, 0))
        return len(placed), more
