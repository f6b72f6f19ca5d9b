"""A worker that the driver plays itself, to be as slow or as quick as a scenario needs."""

from bench.shared.session import ScenarioError
from fairlane.domain.attempt import Outcome
from fairlane.lifecycle.payload import encode
from fairlane.store.messages import Settlement, StartedTask
from fairlane.store.store import Store


class ManualWorker:
    """Takes tasks only when its driver says so. ``incarnation`` is its name in the store."""

    def __init__(self, store: Store, name: str) -> None:
        self.incarnation = f"{name}-life"
        self._store = store
        self._name = name
        self._cursor = 0

    async def register(self, slots: int) -> None:
        """Register with the store."""
        await self._store.register(self._name, self.incarnation, slots)

    async def take(self) -> tuple[tuple[StartedTask, ...], int | None]:
        """Ask once for the tasks that were handed over; also return for how long the store holds them back.

        Raises:
            ScenarioError: the store has evicted this worker.
        """
        answer = await self._store.start(self.incarnation, self._cursor)
        if not answer.alive:
            raise ScenarioError(f"the store has evicted worker {self._name}")
        self._cursor = max((task.fence for task in answer.tasks), default=self._cursor)
        return answer.tasks, answer.hold_ms

    async def complete(self, tasks: tuple[StartedTask, ...]) -> None:
        """Settle tasks as completed, at their estimates; the result has the number of the attempt."""
        if tasks:
            ends = [
                Settlement(task.ref, task.fence, Outcome.COMPLETED, task.cost, encode({"attempt": task.failures + 1}))
                for task in tasks
            ]
            await self._store.settle(self.incarnation, ends)

    async def leave(self) -> None:
        """Evict itself; tasks it still has return to their queue."""
        while (await self._store.evict(self.incarnation)).more:
            pass
