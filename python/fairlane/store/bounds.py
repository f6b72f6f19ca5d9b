"""The bounds of each stored limit, taken from the configuration.

The scripts that store limits check them again, so that no client can store a number that the arithmetic cannot bear.
A limit that may be absent is stored as 0.
"""

from typing import Any, Final, get_args

from fairlane.config import BudgetConfig, PoolConfig, Section, TenantConfig, WindowConfig
from fairlane.store.settings import NO_BUDGET

Bounds = tuple[int, int]


def _bounds(section: type[Section], field: str) -> Bounds:
    """Return the lowest and highest accepted value; the lowest is 0 if the field may be None."""
    info = section.model_fields[field]
    constraints: list[Any] = info.metadata
    if not constraints:  # a type with constraints, or None
        constraints = get_args(info.annotation)[0].__metadata__[0].metadata
    (lowest,) = [each.ge for each in constraints if hasattr(each, "ge")]
    (highest,) = [each.le for each in constraints if hasattr(each, "le")]
    return (lowest if info.metadata else 0), highest


_WINDOWS: Final = {
    f"{kind}_{part}": (0, _bounds(WindowConfig, field)[1])
    for kind in ("starts", "spend")
    for part, field in (("limit", "limit"), ("interval", "interval_ms"))
}
TENANT_BOUNDS: Final[dict[str, Bounds]] = {
    "weight": _bounds(TenantConfig, "weight"),
    "slot_ceiling": _bounds(TenantConfig, "slots"),
    "cost_ceiling": _bounds(TenantConfig, "cost_ceiling_units"),
    "queue_limit": _bounds(TenantConfig, "queue_limit"),
    "budget": (NO_BUDGET, _bounds(BudgetConfig, "limit_units")[1]),
    "budget_period": _bounds(BudgetConfig, "period_ms"),
    "budget_anchor": _bounds(BudgetConfig, "anchor_ms"),
    "budget_rejects": (0, 1),
    **_WINDOWS,
}
POOL_BOUNDS: Final[dict[str, Bounds]] = {
    "quantum": _bounds(PoolConfig, "quantum_units"),
    "hard_limit": _bounds(PoolConfig, "slots"),
    "cost_ceiling": _bounds(PoolConfig, "cost_ceiling_units"),
    "max_attempts": _bounds(PoolConfig, "max_attempts"),
    "max_recoveries": _bounds(PoolConfig, "max_recoveries"),
    "lease": _bounds(PoolConfig, "lease_ms"),
    "default_pause": _bounds(PoolConfig, "default_pause_ms"),
    "retention": _bounds(PoolConfig, "retention_ms"),
    "idempotency": _bounds(PoolConfig, "idempotency_ms"),
    "event_limit": _bounds(PoolConfig, "event_limit"),
    "event_bytes": _bounds(PoolConfig, "event_bytes"),
    "resume_ramp": _bounds(PoolConfig, "resume_ramp_ms"),
    **_WINDOWS,
}
"""The pool's other settings are words, and its schema."""
