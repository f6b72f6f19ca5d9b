"""What each stored limit may be. The scripts that store limits hold to it, whatever a caller has checked."""

from typing import Final

from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS, MAX_QUANTUM, MAX_SLOTS, MAX_WEIGHT

Bounds = tuple[int, int]

MAX_BUDGET: Final = 2**50
MAX_INTERVAL_MS: Final = 86_400_000
_WINDOWS: Final[dict[str, Bounds]] = {
    "starts_limit": (0, MAX_COST),
    "starts_interval": (0, MAX_INTERVAL_MS),
    "spend_limit": (0, MAX_COST),
    "spend_interval": (0, MAX_INTERVAL_MS),
}

TENANT_BOUNDS: Final[dict[str, Bounds]] = {
    "weight": (1, MAX_WEIGHT),
    "slot_ceiling": (0, MAX_SLOTS),
    "cost_ceiling": (0, MAX_COST),
    "queue_limit": (1, 10**9),
    "budget": (-1, MAX_BUDGET),
    "budget_period": (0, MAX_DURATION_MS),
    "budget_anchor": (0, MAX_BUDGET),
    "budget_rejects": (0, 1),
    **_WINDOWS,
}
POOL_BOUNDS: Final[dict[str, Bounds]] = {
    "quantum": (1, MAX_QUANTUM),
    "hard_limit": (1, MAX_SLOTS),
    "cost_ceiling": (0, MAX_COST),
    "max_cost": (1, MAX_COST),
    "max_attempts": (1, 1000),
    "max_recoveries": (0, 1000),
    "lease": (1, MAX_DURATION_MS),
    "default_pause": (1, MAX_DURATION_MS),
    "retention": (1, MAX_DURATION_MS),
    "idempotency": (0, MAX_DURATION_MS),
    "event_limit": (0, 10**8),
    "resume_ramp": (0, MAX_DURATION_MS),
    **_WINDOWS,
}
"""The other settings of a pool are words, and its schema."""
