"""Where scenarios run: one server and one Ray for the whole benchmark, and a new scheduler for each scenario."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from fairlane.config import SchedulerConfig
from fairlane.errors import Rejected, StoreUnavailable
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.providers.base import Provider
from fairlane.store.connection import Endpoint
from fairlane.store.messages import CancelStatus
from fairlane.store.store import Store


class Session(Protocol):
    """A running scheduler, as its users see it."""

    @property
    def store(self) -> Store:
        """Its store, for reading events and snapshots."""
        ...

    async def submit_many(self, specs: Iterable[TaskSpec]) -> list[TaskHandle | Rejected | StoreUnavailable]:
        """Submit many tasks; one answer each."""
        ...

    async def wait_many(self, handles: Sequence[TaskHandle], timeout_s: float | None = None) -> list[object]:
        """Wait for all ends."""
        ...

    async def cancel(self, tenant: str, task_id: str) -> CancelStatus:
        """Cancel one task."""
        ...

    async def remove_tenant(self, tenant: str) -> bool:
        """Forget a tenant without tasks."""
        ...

    async def actor_pids(self) -> dict[str, int]:
        """Return the process of each actor; waits for actors that are being restarted."""
        ...

    async def kill_actor(self, actor: str, pid: int) -> None:
        """Kill an actor's process, without warning."""
        ...

    async def close_admission(self) -> None:
        """Take no new tasks."""
        ...


class Platform(Protocol):
    """One server and the means to run schedulers on it."""

    @property
    def endpoint(self) -> Endpoint:
        """Where the server is."""
        ...

    @property
    def worker_url(self) -> str | None:
        """The server's URL for workers; None: it is a secret, and in their environment."""
        ...

    def scheduler(self, config: SchedulerConfig, provider: Provider) -> AbstractAsyncContextManager[Session]:
        """Run a scheduler with fresh state for as long as the context lasts."""
        ...


Progress = Callable[[str], None]
"""Takes the current step in a few words."""
