"""The caller's handle of one submitted task, and the result or error that the task's end gives to the caller."""

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from fairlane.domain.task import TaskRef, TaskState, TaskView
from fairlane.errors import TaskCancelled, TaskDead, TaskExpired, TaskFailed, TaskLost, TaskRejected
from fairlane.lifecycle.payload import decode
from fairlane.store.messages import CancelStatus


class TaskClient(Protocol):
    """The client that a handle came from, as far as the handle uses it."""

    async def wait_for(self, handles: Sequence["TaskHandle"], timeout_s: float | None) -> None:
        """Return when all handles have ended."""
        ...

    async def get(self, tenant: str, task_id: str) -> TaskView | None:
        """Return the task as it is now; None if the store does not know it."""
        ...

    async def cancel(self, tenant: str, task_id: str) -> CancelStatus:
        """Cancel the task."""
        ...


class Wait:
    """A caller that waits for ``left`` more tasks to end."""

    __slots__ = ("done", "left")

    def __init__(self, left: int) -> None:
        self.left = left
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def count(self) -> None:
        """Count one ended task."""
        self.left -= 1
        if self.left == 0 and not self.done.done():
            self.done.set_result(None)


class TaskHandle:
    """One submitted task. A client's submit returns it; every await can be repeated and cancelled at any time.

    The client's collector sets ``admitted`` and ``foreign``, and calls `end` once.
    """

    __slots__ = ("_client", "_end", "_waits", "admitted", "estimate", "foreign", "ref")

    def __init__(self, client: TaskClient, ref: TaskRef, estimate: int | None = None) -> None:
        self.ref = ref
        self.estimate = estimate
        """The estimator's cost in units; None if the caller gave the cost."""
        self.admitted = False
        """The store has accepted the task, or knew it already."""
        self.foreign = False
        """An earlier submit made the task, so the store may report its end to another client: this client asks."""
        self._client = client
        self._end: TaskView | TaskLost | None = None
        self._waits: list[Wait] | None = None

    def __repr__(self) -> str:
        state = "open" if self._end is None else "ended"
        return f"<TaskHandle {self.ref} {state}>"

    @property
    def ended(self) -> bool:
        """True once this client has seen the task's end: `result` then answers at once."""
        return self._end is not None

    async def result(self, timeout_s: float | None = None) -> object:
        """Wait for the task and return its result.

        Raises:
            TaskLost: one of its kinds: the task ended without a result.
            ResultTimeout: the task has not ended within ``timeout_s``; it continues.
            StoreUnavailable: the client was closed.
        """
        if self._end is None:
            await self._client.wait_for((self,), timeout_s)
        outcome = self.outcome()
        if isinstance(outcome, TaskLost):
            raise outcome
        return outcome

    async def state(self) -> TaskState | None:
        """Return the task's state now; None if the store no longer knows the task.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        if isinstance(self._end, TaskView):
            return self._end.state
        view = await self._client.get(self.ref.tenant, self.ref.id)
        return None if view is None else view.state

    async def cancel(self) -> CancelStatus:
        """Cancel the task; see `Client.cancel`."""
        return await self._client.cancel(self.ref.tenant, self.ref.id)

    def outcome(self) -> object:
        """Return the result of an ended task, or the TaskLost that says why there is none."""
        end = self._end
        return outcome_of(end) if isinstance(end, TaskView) else end

    def watch(self, wait: Wait) -> None:
        """Count this task's end in ``wait``."""
        if self._waits is None:
            self._waits = [wait]
        else:
            self._waits.append(wait)

    def unwatch(self, wait: Wait) -> None:
        """Remove a wait whose caller has left."""
        if self._waits is not None and wait in self._waits:
            self._waits.remove(wait)

    def end(self, end: TaskView | TaskLost) -> None:
        """Record the task's end and wake every caller that waits for it."""
        self._end = end
        waits = self._waits
        if waits is not None:
            self._waits = None
            for wait in waits:
                wait.count()


def outcomes(handles: Sequence[TaskHandle]) -> list[object]:
    """Return the outcomes of ended tasks."""
    return [handle.outcome() for handle in handles]


def outcome_of(view: TaskView) -> object:
    """Return an ended task's result, or the TaskLost that says why there is none."""
    if view.state is TaskState.COMPLETED:
        if not view.result:
            return None
        try:
            return decode(view.result)
        except ValueError as error:
            return _lost(TaskLost, view, f"completed, but its result cannot be read: {error}")
    kind, ending = _LOSSES.get(view.state, (TaskLost, f"is {view.state}"))
    reason = ": ".join(part for part in (view.error_code, view.error) if part)
    return _lost(kind, view, f"{ending}: {reason}" if reason else ending)


def _lost(kind: type[TaskLost], view: TaskView, ending: str) -> TaskLost:
    return kind(
        f"task {view.ref} {ending}",
        tenant=view.ref.tenant,
        task_id=view.ref.id,
        error_code=view.error_code,
        failures=view.failures,
        recoveries=view.recoveries,
    )


def forgotten(ref: TaskRef) -> TaskLost:
    """Return the error for a task that the store no longer knows."""
    return TaskLost(
        f"task {ref} is unknown to the store: its retention has passed, or its data was lost",
        tenant=ref.tenant,
        task_id=ref.id,
    )


_LOSSES: Final[dict[TaskState, tuple[type[TaskLost], str]]] = {
    TaskState.FAILED: (TaskFailed, "failed"),
    TaskState.EXPIRED: (TaskExpired, "expired"),
    TaskState.CANCELLED: (TaskCancelled, "was cancelled"),
    TaskState.REJECTED: (TaskRejected, "was rejected after its admission"),
    TaskState.DEAD: (TaskDead, "was given up"),
}
