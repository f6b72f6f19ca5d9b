"""Configuration in the form of the scripts: integers and words, in the order of `fairlane.store.keys`."""

from collections.abc import Mapping

from fairlane.config import BudgetConfig, PoolConfig, TenantConfig, WindowConfig
from fairlane.domain.policy import BudgetPolicy
from fairlane.store.keys import POOL_SETTINGS, SCHEMA_VERSION, TENANT_SETTINGS

NO_BUDGET = -1

Setting = str | int


def pool_settings(config: PoolConfig) -> dict[str, Setting]:
    """Return the settings of `put_pool` by name."""
    settings: dict[str, Setting] = {
        "schema": SCHEMA_VERSION,
        "policy": config.policy.value,
        "quantum": config.quantum_units,
        "hard_limit": config.slots,
        "cost_ceiling": config.cost_ceiling_units or 0,
        "max_attempts": config.max_attempts,
        "max_recoveries": config.max_recoveries,
        "lease": config.lease_ms,
        "throttle_scope": config.throttle_scope.value,
        "default_pause": config.default_pause_ms,
        "retention": config.retention_ms,
        "idempotency": config.idempotency_ms,
        "event_limit": config.event_limit,
        "event_bytes": config.event_bytes,
        "resume_ramp": config.resume_ramp_ms,
        **_windows(config.starts, config.spend),
    }
    return {name: settings[name] for name in POOL_SETTINGS}


def tenant_settings(config: TenantConfig) -> list[int]:
    """Return a tenant's settings in the order of TENANT_SETTINGS."""
    budget = config.budget
    settings = {
        "weight": config.weight,
        "slot_ceiling": config.slots or 0,
        "cost_ceiling": config.cost_ceiling_units or 0,
        "queue_limit": config.queue_limit,
        "budget": NO_BUDGET if budget is None else budget.limit_units,
        "budget_period": 0 if budget is None else budget.period_ms or 0,
        "budget_anchor": 0 if budget is None or not budget.period_ms else budget.anchor_ms,
        "budget_rejects": 1 if budget is not None and budget.when_exhausted is BudgetPolicy.REJECT else 0,
        **_windows(config.starts, config.spend),
    }
    return [settings[name] for name in TENANT_SETTINGS]


def tenant_config(settings: Mapping[str, int]) -> TenantConfig:
    """Return the configuration of these settings, by the names of TENANT_SETTINGS: the inverse of `tenant_settings`."""
    return TenantConfig(
        weight=settings["weight"],
        slots=settings["slot_ceiling"] or None,
        cost_ceiling_units=settings["cost_ceiling"] or None,
        queue_limit=settings["queue_limit"],
        budget=_budget(settings),
        starts=_window(settings, "starts"),
        spend=_window(settings, "spend"),
    )


def _budget(settings: Mapping[str, int]) -> BudgetConfig | None:
    if settings["budget"] == NO_BUDGET:
        return None
    return BudgetConfig(
        limit_units=settings["budget"],
        period_ms=settings["budget_period"] or None,
        anchor_ms=settings["budget_anchor"] if settings["budget_period"] else 0,
        when_exhausted=BudgetPolicy.REJECT if settings["budget_rejects"] else BudgetPolicy.WAIT,
    )


def _window(settings: Mapping[str, int], kind: str) -> WindowConfig | None:
    """A window that was switched off has limit 0 and keeps its interval."""
    limit = settings[f"{kind}_limit"]
    return WindowConfig(limit=limit, interval_ms=settings[f"{kind}_interval"]) if limit else None


def _windows(starts: WindowConfig | None, spend: WindowConfig | None) -> dict[str, int]:
    return {
        f"{kind}_{name}": value
        for kind, window in (("starts", starts), ("spend", spend))
        for name, value in (
            ("limit", window.limit if window else 0),
            ("interval", window.interval_ms if window else 0),
        )
    }
