"""The worker contract: a member that also executes tasks."""

from typing import Protocol

from fairlane.workers.executor.task import In, Out, Task
from fairlane.workers.members.member import Member


class Worker(Member, Protocol):
    """A member that executes tasks."""

    async def execute(self, task: Task[In, Out], value: In) -> Out:
        """Execute the task in one slot; the load has risen by the time the call first suspends.

        A cancellation ends the call at once. Work that cannot be ended keeps its slot until it returns.

        Raises:
            WorkerError: worker_not_ready, worker_at_capacity, worker_lost, task_failed (the work's exception is the
                cause), task_cancelled (by the work itself), invalid_configuration (work or input cannot be sent).
        """
        ...
