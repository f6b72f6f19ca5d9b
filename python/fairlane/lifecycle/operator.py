"""The operator of one scheduler: tenants, budgets, pauses, capacity, admission, and what the store shows of them.

Needs only the store, so it works from any process, also while the scheduler is stopped.
"""

from collections.abc import Callable
from typing import Final

from fairlane.config import TenantConfig
from fairlane.domain.limits import check_tenant_id
from fairlane.errors import ConfigError
from fairlane.store.messages import Ledger, Snapshot, TenantView, WorkerView
from fairlane.store.store import Store

_TRIES: Final = 100


class Operator:
    """Changes and reads one scheduler's pool and tenants. Does not own the store.

    Changes take effect at the next dispatch; running tasks are not affected. Every operation raises InvalidTask for a
    tenant id that no tenant can have, and StoreUnavailable if the store does not answer; each can be repeated.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def put_tenant(self, tenant: str, config: TenantConfig) -> None:
        """Register a tenant, or replace all its limits."""
        await self._store.put_tenants({check_tenant_id(tenant): config})

    async def change_tenant(
        self, tenant: str, change: Callable[[TenantConfig | None], TenantConfig]
    ) -> tuple[TenantConfig | None, TenantConfig]:
        """Replace a tenant's limits by ``change(limits)``; return the limits before and after.

        ``change`` gets None if the tenant is not registered. It is called again if someone else changes the tenant
        between the read and the write, so changes of different limits at the same time all count. Callers who write
        the same limits at the same time all succeed.

        Raises:
            ConfigError: others changed the tenant during each of 100 tries; nothing was written.
        """
        check_tenant_id(tenant)
        for _ in range(_TRIES):
            view = await self._store.tenant(tenant)
            before = None if view is None else view.limits
            after = change(before)
            if after == before or await self._store.change_tenant(tenant, before, after):
                return before, after
        raise ConfigError(
            f"tenant {tenant}: others changed it during each of {_TRIES} tries; nothing was written, try again",
            field="tenant",
        )

    async def remove_tenant(self, tenant: str) -> bool:
        """Remove a tenant; False if it is not registered. Raises ConfigError while it has tasks."""
        return await self._store.remove_tenant(check_tenant_id(tenant))

    async def tenant(self, tenant: str) -> TenantView | None:
        """Read a tenant's limits, ledger and queue at one instant; None if it is not registered."""
        return await self._store.tenant(check_tenant_id(tenant))

    async def ledger(self, tenant: str) -> Ledger | None:
        """Read the units that a tenant holds and has spent of its budget; None if it is not registered."""
        return await self._store.ledger(check_tenant_id(tenant))

    async def top_up(self, tenant: str, units: int, key: str) -> int:
        """Add units to a tenant's budget of this period; return the budget with all additions.

        The same ``key`` adds once within a day, so a top-up can be repeated. Raises ConfigError if the tenant is not
        registered or has no budget.
        """
        return await self._store.top_up(check_tenant_id(tenant), units, key)

    async def pause(self, duration_ms: int) -> None:
        """Start no task in the pool for ``duration_ms``. A longer pause that is under way stays."""
        await self._store.pause(duration_ms)

    async def resume(self) -> None:
        """End a pause, also one that a throttle began."""
        await self._store.resume()

    async def set_capacity(self, slots: int) -> int:
        """Set the number of tasks that may be in flight; return it, at most the hard limit ``pool.slots``."""
        return await self._store.set_capacity(slots)

    async def close_admission(self) -> None:
        """Refuse new tasks (AdmissionClosed). Accepted tasks still run."""
        await self._store.admit(open=False)

    async def open_admission(self) -> None:
        """Accept new tasks again. A scheduler's start does this too."""
        await self._store.admit(open=True)

    async def snapshot(self, after_tenant: str = "", limit: int = 1000) -> Snapshot:
        """Read the pool and up to ``limit`` tenants, in the order of their ids, at one instant."""
        return await self._store.snapshot(after_tenant, limit)

    async def workers(self) -> list[WorkerView]:
        """Read the worker incarnations that the store knows."""
        return await self._store.workers()
