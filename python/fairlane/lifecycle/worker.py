"""The worker: lives as one incarnation after another, each with its own lease, until it is stopped."""

from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK, Clock, IdGenerator, Rng, system_rng
from fairlane.config import WorkerConfig
from fairlane.lifecycle.incarnation import Incarnation
from fairlane.providers.base import Provider, load_provider, run_hook
from fairlane.run import Role, RoleReport, Signals
from fairlane.store.store import Store


class Worker(Role):
    """Calls the provider for the tasks that the store hands to it.

    ``provider`` is an instance or ``package.module:attribute``. ``name`` is unique in the pool and the same in all the
    worker's processes: registering it again ends the incarnation before.

    Raises:
        ConfigError: the provider cannot be loaded.
    """

    def __init__(
        self,
        store: Store,
        provider: str | Provider,
        config: WorkerConfig | None = None,
        *,
        name: str,
        clock: Clock = SYSTEM_CLOCK,
        ids: IdGenerator = RANDOM_IDS,
        rng: Rng | None = None,
    ) -> None:
        self._name = name
        self._store = store
        self._provider = load_provider(provider)
        self._config = config or WorkerConfig()
        self._clock = clock
        self._ids = ids
        self._rng = rng or system_rng()
        self._current: Incarnation | None = None

    def report(self) -> RoleReport:
        """See Role."""
        current = self._current
        return RoleReport() if current is None else RoleReport(current.id, current.held)

    async def run(self, signals: Signals) -> None:
        """See Role. Ready once an incarnation is registered; after one has lost its lease, another follows."""
        await run_hook(self._provider, "open")
        try:
            while not signals.stop.is_set():
                self._current = Incarnation(
                    self._store,
                    self._provider,
                    self._config,
                    name=self._name,
                    incarnation=self._ids.new_id(),
                    clock=self._clock,
                    rng=self._rng,
                )
                await self._current.run(signals)
        finally:
            await run_hook(self._provider, "close")
