"""The commands of operators: the pool, its tenants, budgets, the capacity, pauses."""

from collections.abc import Mapping

from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS, MAX_SLOTS, MAX_TASK_ID, check_integer, id_problem
from fairlane.errors import ConfigError
from fairlane.store import refusals
from fairlane.store.script_runner import ScriptRunner
from fairlane.store.settings import pool_settings, tenant_settings

_TENANTS_PER_CALL = 500


class OperatorCommands(ScriptRunner):
    """Changes settings and limits, with immediate effect."""

    async def put_pool(self, config: PoolConfig) -> None:
        """Create the pool or change its settings.

        Raises:
            ConfigError: policy or quantum would change while there are tasks; another version of Fairlane wrote the
                state; or a setting is out of bounds.

        """
        settings = pool_settings(config)
        refusal = await self._call("put_pool", settings=settings)
        if refusal:
            raise refusals.pool_refused(self.keys, refusal, settings)

    async def put_tenants(self, tenants: Mapping[str, TenantConfig]) -> int:
        """Register tenants or change their limits, with immediate effect; return how many are new.

        Raises:
            ConfigError: a limit is out of bounds. None of the 500 tenants in the same call is written.

        """
        settings = {tenant: tenant_settings(config) for tenant, config in tenants.items()}
        items = list(settings.items())
        fresh = 0
        for first in range(0, len(items), _TENANTS_PER_CALL):
            answer = await self._call("put_tenants", items=items[first : first + _TENANTS_PER_CALL])
            if not isinstance(answer, int):
                raise refusals.tenant_refused(answer, settings)
            fresh += answer
        return fresh

    async def change_tenant(self, tenant: str, read: TenantConfig | None, wanted: TenantConfig) -> bool:
        """Change a tenant's limits if they are still the ones that were ``read``; None: there was no such tenant.

        Return False if another caller has changed them since: read again.

        Raises:
            ConfigError: a limit is out of bounds.

        """
        before, after = [] if read is None else tenant_settings(read), tenant_settings(wanted)
        answer = await self._call("change_tenant", tenant=tenant, read=before, wanted=after)
        if not isinstance(answer, int):
            raise refusals.tenant_refused(answer, {tenant: after})
        return bool(answer)

    async def remove_tenant(self, tenant: str) -> bool:
        """Remove a tenant without tasks; return False if there is no such tenant.

        Raises:
            ConfigError: it still has tasks.

        """
        answer = (await self._call("remove_tenant", tenant=tenant)).decode()
        if answer == "busy":
            raise ConfigError(f"tenant {tenant}: still has tasks; cancel or await them first", tenant=tenant)
        return bool(answer == "removed")

    async def top_up(self, tenant: str, units: int, key: str) -> int:
        """Add units to a tenant's budget of this period, once per ``key``; return the budget with its top-ups.

        Raises:
            ConfigError: the tenant is unknown or has no budget; or an argument cannot be used.
        """
        check_integer(units, field="units", lowest=1, highest=MAX_COST, error=ConfigError)
        problem = id_problem(key, longest=MAX_TASK_ID)
        if problem is not None:
            raise ConfigError(f"key = {ascii(key)[:60]}: {problem}", field="key")
        answer = await self._call("top_up", tenant=tenant, units=units, key=key)
        if isinstance(answer, bytes):
            raise ConfigError(f"tenant {tenant}: {answer.decode().replace('_', ' ')}", field="tenant")
        return int(answer)

    async def set_capacity(self, slots: int) -> int:
        """Set the capacity; return the capacity in force, which is never above the hard limit."""
        check_integer(slots, field="slots", lowest=1, highest=MAX_SLOTS, error=ConfigError)
        return int(await self._call("set_capacity", slots=slots))

    async def pause(self, duration_ms: int) -> None:
        """Start no task in the pool for this long. A longer pause stays in force."""
        check_integer(duration_ms, field="duration_ms", lowest=1, highest=MAX_DURATION_MS, error=ConfigError)
        await self._call("pause", duration_ms=duration_ms)

    async def resume(self) -> None:
        """End the pause now."""
        await self._call("pause", duration_ms=0)

    async def admit(self, open: bool) -> None:  # noqa: A002 - reads as the command does
        """Open or close admission; a closed pool finishes its tasks."""
        await self._call("admit", closed=0 if open else 1)
