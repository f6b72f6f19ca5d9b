"""The reference world's attempts: how each way for an attempt to end changes the expected state."""

from collections.abc import Iterator, Sequence
from functools import partial

from fairlane.domain.attempt import AttemptState, Outcome
from fairlane.domain.events import ActiveRow, EndRow
from fairlane.domain.task import TaskRef, TaskState
from fairlane.store.messages import CancelStatus, Return, Settlement, Started, Throttle as Throttled, Write
from tests.support import world_operations as ops
from tests.support.world_model import (
    ACTIVE,
    DEFAULT_PAUSE_MS,
    ENQUEUED,
    MAX_ATTEMPTS,
    MAX_RECOVERIES,
    PENDING,
    SHORTEST_PAUSE_MS,
    WAITING,
    Call,
    Task,
    Worker,
    picked,
    picked_apart,
)
from tests.support.world_pool import PoolReference


class Reference(PoolReference):
    """Applies an operation, and yields the store calls that do the same, each with the answer that it must get."""

    def apply(self, operation: ops.Operation) -> Iterator[Call]:
        """Do the operation, or nothing if there is nothing to pick."""
        handlers = {
            ops.Join: self.join, ops.Leave: self.leave, ops.Change: self.change, ops.Submit: self.submit,
            ops.Dispatch: self.dispatch, ops.Start: self.start, ops.Complete: self.complete, ops.Turn: self.turn,
            ops.Fail: self.fail, ops.Throttle: self.throttle, ops.Release: self.release, ops.Cancel: self.cancel,
            ops.LoseWorker: self.lose_worker, ops.SetCapacity: self.set_capacity, ops.Pause: self.pause,
            ops.SetPoolCeiling: self.set_pool_ceiling, ops.Resume: self.resume, ops.Advance: self.advance,
        }  # fmt: skip
        return handlers[type(operation)](operation)

    def start(self, operation: ops.Start) -> Iterator[Call]:
        (worker,) = picked(self.workers, operation.worker)
        cursor = worker.cursor
        expected, _ = self._take(worker)
        yield Call("start", (worker.incarnation, cursor), expected, _received)

    def complete(self, operation: ops.Complete) -> Iterator[Call]:
        for incarnation, batch in self._complete(operation.tasks):
            yield Call("settle", (incarnation, batch), [Write.DONE] * len(batch))

    def turn(self, operation: ops.Turn) -> Iterator[Call]:
        for incarnation, batch in self._complete(operation.tasks):
            (worker,) = (worker for worker in self.workers if worker.incarnation == incarnation)
            cursor = worker.cursor
            expected, waits = self._take(worker)
            if not waits:
                room = worker.share - len(self.held(incarnation)) if worker.share else len(batch)
                count = max(0, min(len(batch), room))
                self.place([incarnation] * count, count)
                expected += self._take(worker)[0]
            yield Call(
                "settle_and_start",
                (incarnation, batch, cursor),
                ([Write.DONE] * len(batch), expected),
                lambda answer: (answer[0], _received(answer[1])),
            )

    def _take(self, worker: Worker) -> tuple[list[tuple[TaskRef, int, int]], bool]:
        """Start what the worker was handed. Return what it receives, and whether nothing more may begin there."""
        received = []
        held = self.held(worker.incarnation)
        waits = self.paused or any(task.state == ACTIVE and task.in_last_life for task in held)
        for place, task in enumerate(held):
            if task.fence <= worker.cursor:
                continue
            if task.state == ENQUEUED:
                if waits or (task.in_last_life and place > 0):
                    waits = True
                    break
                waits = task.in_last_life
                task.state = ACTIVE
                self.decisions.append(ActiveRow(task.ref.tenant, task.ref.id, task.fence))
            worker.cursor = task.fence
            received.append((task.ref, task.fence, task.cost))
        return received, waits

    def _complete(self, picks: Sequence[tuple[int, int]]) -> Iterator[tuple[str, list[Settlement]]]:
        """End some running tasks of one worker well: each as (pick, actual in permille of its estimate)."""
        running = self.in_state(ACTIVE)
        for first in picked(running, picks[0][0]):
            own = [task for task in running if task.incarnation == first.incarnation]
            batch = []
            for task, (_, permille) in zip(picked_apart(own, [pick for pick, _ in picks]), picks, strict=False):
                actual = task.cost * permille // 1000
                batch.append(Settlement(task.ref, task.fence, Outcome.COMPLETED, actual))
                self.act(task.tenant, partial(self.scheduler.settle, task.number, actual))
                self._ended(task, "completed", "completed", actual=actual)
            yield first.incarnation, batch

    def fail(self, operation: ops.Fail) -> Iterator[Call]:
        for task in picked(self.in_state(ACTIVE), operation.task):
            outcome = Outcome.REFUSED if operation.for_good else Outcome.FAILED
            settlement = Settlement(task.ref, task.fence, outcome, 0)
            task.failures += 1
            if not operation.for_good and task.stopping:
                self._end_kept(task, "cancelled", "cancelled")
            elif operation.for_good or task.failures >= MAX_ATTEMPTS:
                self._end_kept(task, "failed", "failed")
            else:
                self._back_kept(task, "failed")
            yield Call("settle", (task.incarnation, [settlement]), [Write.DONE])

    def throttle(self, operation: ops.Throttle) -> Iterator[Call]:
        for task in picked(self.in_state(ACTIVE), operation.task):
            pause = operation.pause_ms or DEFAULT_PAUSE_MS
            if operation.pause_ms == 0:
                pause = min(pause, SHORTEST_PAUSE_MS * 2**task.throttles)
            task.throttles += 1
            request = Throttled(task.ref, task.fence, operation.pause_ms)
            if task.stopping:
                self._cancel(task)
            else:
                self._give_back(task, "throttled", self.now + pause)
            yield Call("throttle", (task.incarnation, [request]), [Write.DONE])

    def release(self, operation: ops.Release) -> Iterator[Call]:
        for task in picked(self.in_state(ENQUEUED, ACTIVE), operation.task):
            attempt = Return(task.ref, task.fence)
            if task.stopping:
                self._cancel(task)
            else:
                self._give_back(task, "returned", 0)
            yield Call("release", (task.incarnation, [attempt]), [Write.DONE])

    def cancel(self, operation: ops.Cancel) -> Iterator[Call]:
        tasks = picked_apart(list(self.tasks.values()), operation.tasks)
        if not tasks:
            return
        statuses = []
        for task in tasks:
            if task.state == ACTIVE:
                task.stopping = True
                statuses.append(CancelStatus.STOPPING)
            else:
                self._cancel(task)
                statuses.append(CancelStatus.CANCELLED)
        yield Call("cancel", ([task.ref for task in tasks],), statuses)

    def lose_worker(self, operation: ops.LoseWorker) -> Iterator[Call]:
        (worker,) = picked(self.workers, operation.worker)
        lost = worker.incarnation
        held = self.held(lost)
        for task in held:
            self._lose(task)
        worker.life, worker.cursor, worker.share = worker.life + 1, 0, 0
        if not operation.by_name:
            yield Call("evict", (lost,), (len(held), False), lambda answer: (answer.tasks, answer.more))
        yield self.register(worker)

    # -- ends of attempts --------------------------------------------------------------------------------------

    def _lose(self, task: Task) -> None:
        if task.state == ENQUEUED:
            self._give_back(task, "lost", 0)
        elif task.stopping:
            self._end_kept(task, "cancelled", "cancelled")
        elif task.recoveries >= MAX_RECOVERIES:
            self._end_kept(task, "lost", "dead")
        else:
            task.recoveries += 1
            self._back_kept(task, "lost")

    def _end_kept(self, task: Task, attempt: str, state: str) -> None:
        self.act(task.tenant, lambda: self.scheduler.settle(task.number, 0, good=False))
        self._ended(task, attempt, state)

    def _back_kept(self, task: Task, attempt: str) -> None:
        self.act(task.tenant, lambda: self.scheduler.fail_retry(task.number))
        self._ended(task, attempt, PENDING)

    def _give_back(self, task: Task, attempt: str, ready_at: int) -> None:
        self.act(task.tenant, lambda: self.scheduler.give_back(task.number, wait=ready_at > 0), refund=not ready_at)
        task.ready_at = ready_at
        self._ended(task, attempt, WAITING if ready_at else PENDING)

    def _cancel(self, task: Task) -> None:
        if task.state in {PENDING, WAITING}:
            task.fence = 0
        self.act(task.tenant, lambda: self.scheduler.cancel(task.number))
        self._ended(task, "cancelled", "cancelled")

    def _ended(self, task: Task, attempt: str, state: str, *, actual: int = 0) -> None:
        """Note the end of an attempt, and of its task unless the task waits again."""
        tenant_now = self.scheduler.tenant(task.tenant)
        owed, ratio = tenant_now.owed if task.fence else 0, tenant_now.ratio
        seen, not_before = (PENDING, task.ready_at) if state == WAITING else (state, 0)
        tenant, task_id, new_state = task.ref.tenant, task.ref.id, TaskState(seen)
        self.decisions.append(
            EndRow(AttemptState(attempt), tenant, task_id, task.fence, actual, owed, ratio, new_state, not_before)
        )
        task.state = state
        if state not in {PENDING, WAITING}:
            self.ended[task.ref] = state
            del self.tasks[task.number]


def _received(answer: Started) -> list[tuple[TaskRef, int, int]]:
    return [(task.ref, task.fence, task.cost) for task in answer.tasks]
