"""A caller's hold on one task, and how a task's end reads to its caller."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fairlane.domain.task import TaskRef, TaskState, TaskView
from fairlane.errors import TaskCancelled, TaskDead, TaskExpired, TaskFailed, TaskLost, TaskRejected
from fairlane.lifecycle.payload import decode
from fairlane.store.messages import CancelStatus

if TYPE_CHECKING:
    from fairlane.lifecycle.client import Client


class Wait:
    """One caller waiting for ``left`` more tasks to end."""

    __slots__ = ("done", "left")

    def __init__(self, left: int) -> None:
        self.left = left
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def count(self) -> None:
        """Note one end."""
        self.left -= 1
        if self.left == 0 and not self.done.done():
            self.done.set_result(None)


class TaskHandle:
    """One submitted task. Made by the client; every await may be repeated and cancelled freely."""

    __slots__ = ("_client", "_end", "_waits", "admitted", "estimate", "foreign", "ref")

    def __init__(self, client: "Client", ref: TaskRef, estimate: int | None = None) -> None:
        self.ref = ref
        self.estimate = estimate
        """What the client's estimator said, if the task was submitted without a cost."""
        self.admitted = False
        self.foreign = False
        """Another client may be the one that is told of its end: this one has to ask."""
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
            ResultTimeout: it has not ended within ``timeout_s``; it goes on.
            StoreUnavailable: the client was closed.
        """
        if self._end is None:
            await self._client.wait_for((self,), timeout_s)
        outcome = self.outcome()
        if isinstance(outcome, TaskLost):
            raise outcome
        return outcome

    async def state(self) -> TaskState | None:
        """Return where the task is now; None: the store no longer knows it.

        Raises:
            StoreUnavailable: the store cannot be asked.
        """
        if isinstance(self._end, TaskView):
            return self._end.state
        view = await self._client.get(self.ref.tenant, self.ref.id)
        return None if view is None else view.state

    async def cancel(self) -> CancelStatus:
        """Ask for the task's end; see `Client.cancel`."""
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
        """Forget a wait that was given up."""
        if self._waits is not None and wait in self._waits:
            self._waits.remove(wait)

    def end(self, end: TaskView | TaskLost) -> None:
        """Note the end, and wake who waits for it."""
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
            return _lost(TaskLost, view, f"its result cannot be read: {error}")
    kind, words = _LOSSES.get(view.state, (TaskLost, f"is {view.state}"))
    told = ": ".join(part for part in (view.error_code, view.error) if part)
    return _lost(kind, view, f"{words}: {told}" if told else words)


def _lost(kind: type[TaskLost], view: TaskView, words: str) -> TaskLost:
    return kind(
        f"task {view.ref} {words}",
        tenant=view.ref.tenant,
        task_id=view.ref.id,
        error_code=view.error_code,
        failures=view.failures,
        recoveries=view.recoveries,
    )


def forgotten(ref: TaskRef) -> TaskLost:
    """Return the end of a task that the store no longer knows."""
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
