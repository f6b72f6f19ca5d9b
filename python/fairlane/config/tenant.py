"""A tenant's weight and limits."""

from typing import Annotated

from pydantic import Field

from fairlane.config.allowance import BudgetConfig, WindowConfig
from fairlane.config.section import Section, Slots, Units
from fairlane.domain.limits import MAX_WEIGHT


class TenantConfig(Section):
    """An owner of tasks: its weight and its own limits. None means no limit."""

    weight: Annotated[int, Field(strict=True, ge=1, le=MAX_WEIGHT)] = 1
    """The tenant's share of the pool, in proportion to the weights of the other tenants that have tasks."""
    slots: Slots | None = None
    """How many tasks may be in flight at once."""
    cost_ceiling_units: Units | None = None
    """The sum of the estimated costs that may be in flight at once."""
    queue_limit: Annotated[int, Field(strict=True, ge=1, le=10**9)] = 1_000_000
    """How many tasks may wait. Further ones are refused with ``queue_full``."""
    budget: BudgetConfig | None = None
    """How much the tenant may spend in a period, or in total."""
    starts: WindowConfig | None = None
    """Rate limit on starts of tasks, such as requests per minute (RPM)."""
    spend: WindowConfig | None = None
    """Rate limit on the estimated cost of the tasks that start, such as tokens per minute (TPM)."""
