"""What a tenant or the pool may use over time: budgets and sliding windows."""

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from fairlane.config.section import Section
from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS
from fairlane.domain.policy import BudgetPolicy


class BudgetConfig(Section):
    """Spend allowed per period, or once. Estimates are held against it, actual costs are captured."""

    limit_units: Annotated[int, Field(strict=True, ge=0, le=2**50)]
    """What may be held and spent in one period, or in all."""
    period_ms: Annotated[int, Field(strict=True, ge=1_000, le=MAX_DURATION_MS)] | None = None
    """A new period, with nothing spent, begins this often; None: one sum for ever."""
    anchor_ms: Annotated[int, Field(strict=True, ge=0, le=2**50)] = 0
    """Server time (ms since the epoch) at which some period begins; 0 without ``period_ms``."""
    when_exhausted: BudgetPolicy = BudgetPolicy.WAIT
    """Whether tasks that no longer fit wait, or end ``rejected`` (``budget_exhausted``) when their turn comes."""

    @field_validator("anchor_ms")
    @classmethod
    def _anchor_has_a_period(cls, value: int, others: ValidationInfo) -> int:
        if value and others.data.get("period_ms", value) is None:
            raise ValueError(f"{value} needs a period_ms; without one no period begins, and only 0 is accepted")
        return value


class WindowConfig(Section):
    """At most ``limit`` in any interval of this length, the newest edge included."""

    limit: Annotated[int, Field(strict=True, ge=1, le=MAX_COST)]
    """Starts of tasks (``starts``), or units of estimated cost (``spend``)."""
    interval_ms: Annotated[int, Field(strict=True, ge=1, le=86_400_000)]
    """It slides: every interval of this length counts, not only those between two fixed edges."""
