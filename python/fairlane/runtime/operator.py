"""The operator of a scheduler that this process runs: it also adds and removes workers."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fairlane.lifecycle.operator import Operator
from fairlane.store.store import Store

if TYPE_CHECKING:  # the actors import Ray, whose environment is not set yet
    from fairlane.runtime.scheduler_actors import SchedulerActors


class SchedulerOperator(Operator):
    """An `Operator` that also has the scheduler's actors.

    ``actors`` returns them, and raises RuntimeStartError once the scheduler is stopped.
    """

    def __init__(self, store: Store, actors: "Callable[[], SchedulerActors]") -> None:
        super().__init__(store)
        self._actors = actors

    async def add_worker(self) -> str:
        """Start one more worker and return its name once it works.

        Raises:
            RuntimeStartError: the worker cannot work, and the message says why; or the scheduler is stopped.
        """
        return await self._actors().add_worker()

    async def remove_worker(self, name: str, grace_s: float | None = None) -> None:
        """Let a worker finish its running tasks, hand back the others, and end it. Without workers, tasks wait.

        ``grace_s``: the seconds that the worker may take; None: ``workers.grace_ms``.

        Raises:
            WorkerError: worker_not_found.
            RuntimeStartError: the scheduler is stopped.
        """
        await self._actors().remove_worker(name, grace_s)

    async def actor_pids(self) -> dict[str, int]:
        """Return the process id of each actor, by the actor's name. Waits for an actor that is being restarted.

        Raises:
            RuntimeStartError: an actor does not answer, or the scheduler is stopped.
        """
        return await self._actors().pids()
