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
            ConfigError: policy and quantum cannot change while tasks are waiting or running; another version of
                Fairlane wrote the state; or no setting can be what one is.

        """
        settings = pool_settings(config)
        refusal = await self._call("put_pool", settings=settings)
        if refusal:
            raise refusals.pool_refused(self.keys, refusal, settings)

    async def put_tenants(self, tenants: Mapping[str, TenantConfig]) -> int:
        """Register tenants or change their limits, with immediate effect; return how many are new.

        Raises:
            ConfigError: no limit can be what one is. Of its 500 tenants none is written.

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
        """Give a tenant other limits if its limits still are what was ``read``; None: nobody had registered it.

        False: somebody else has changed it since. Read again.

        Raises:
            ConfigError: no limit can be what one is.

        """
        before, after = [] if read is None else tenant_settings(read), tenant_settings(wanted)
        answer = await self._call("change_tenant", tenant=tenant, read=before, wanted=after)
        if not isinstance(answer, int):
            raise refusals.tenant_refused(answer, {tenant: after})
        return bool(answer)

    async def remove_tenant(self, tenant: str) -> bool:
        """Forget a tenant without tasks; False if there is none.

        Raises:
            ConfigError: it still has tasks.

        """
        answer = (await self._call("remove_tenant", tenant=tenant)).decode()
        if answer == "busy":
            raise ConfigError(f"tenant {tenant}: still has tasks; cancel or await them first", tenant=tenant)
        return bool(answer == "removed")

    async def top_up(self, tenant: str, units: int, key: str) -> int:
        """Add to a tenant's budget of this period, once per ``key``; return the budget with all that was added.

        Raises:
            ConfigError: unknown tenant, or it has no budget.
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
        """Set the capacity and return what is in force: never above the hard limit."""
        check_integer(slots, field="slots", lowest=1, highest=MAX_SLOTS, error=ConfigError)
        return int(await self._call("set_capacity", slots=slots))

    async def pause(self, duration_ms: int) -> None:
        """Start nothing anywhere in the pool for so long."""
        check_integer(duration_ms, field="duration_ms", lowest=1, highest=MAX_DURATION_MS, error=ConfigError)
        await self._call("pause", duration_ms=duration_ms)

    async def resume(self) -> None:
        """End a pause now."""
        await self._call("pause", duration_ms=0)

    async def admit(self, open: bool) -> None:  # noqa: A002 - reads as the command does
        """Open or close admission; a closed pool finishes what it has."""
        await self._call("admit", closed=0 if open else 1)
