"""A worker that the driver plays itself, to be as slow or as quick as a scenario needs."""

from bench.driving.load import ScenarioError
from fairlane.domain.attempt import Outcome
from fairlane.lifecycle.payload import encode
from fairlane.store.messages import Settlement, StartedTask
from fairlane.store.store import Store


class Hands:
    """Takes tasks only when told to. ``incarnation`` is how the store knows it."""

    def __init__(self, store: Store, name: str) -> None:
        self.incarnation = f"{name}-life"
        self._store = store
        self._name = name
        self._cursor = 0

    async def register(self, slots: int) -> None:
        """Begin to exist."""
        await self._store.register(self._name, self.incarnation, slots)

    async def take(self) -> tuple[tuple[StartedTask, ...], int | None]:
        """Ask once for what was handed over; also return how long the store holds it back.

        Raises:
            ScenarioError: the store has given this worker up.
        """
        answer = await self._store.start(self.incarnation, self._cursor)
        if not answer.alive:
            raise ScenarioError(f"worker {self._name} was taken for lost")
        self._cursor = max((task.fence for task in answer.tasks), default=self._cursor)
        return answer.tasks, answer.hold_ms

    async def complete(self, tasks: tuple[StartedTask, ...]) -> None:
        """Say that these ended well, at their estimates."""
        if tasks:
            await self._store.settle(
                self.incarnation,
                [Settlement(task.ref, task.fence, Outcome.COMPLETED, task.cost, encode(None)) for task in tasks],
            )

    async def leave(self) -> None:
        """Cease to exist; what it still has goes back."""
        while (await self._store.evict(self.incarnation)).more:
            pass
