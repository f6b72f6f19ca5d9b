"""Limits over time, of a tenant or of the pool: budgets and rate limits."""

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from fairlane.config.section import Section
from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS
from fairlane.domain.policy import BudgetPolicy


class BudgetConfig(Section):
    """How much may be spent in each period, or in total.

    A running task holds its estimated cost. When it has ended, its actual cost counts.
    """

    limit_units: Annotated[int, Field(strict=True, ge=0, le=2**50)]
    """How much may be held and spent in one period, or in total."""
    period_ms: Annotated[int, Field(strict=True, ge=1_000, le=MAX_DURATION_MS)] | None = None
    """The length of a period; each begins with nothing spent. None: one sum that is never reset."""
    anchor_ms: Annotated[int, Field(strict=True, ge=0, le=2**50)] = 0
    """A time at which a period begins, in server time (ms since the epoch); 0 without ``period_ms``."""
    when_exhausted: BudgetPolicy = BudgetPolicy.WAIT
    """What happens to tasks when the budget is used up: they wait, or end ``rejected`` (``budget_exhausted``) when
    their turn comes."""

    @field_validator("anchor_ms")
    @classmethod
    def _anchor_has_a_period(cls, value: int, others: ValidationInfo) -> int:
        if value and others.data.get("period_ms", value) is None:
            raise ValueError(f"{value} needs a period_ms; set one, or leave the anchor at 0")
        return value


class WindowConfig(Section):
    """A rate limit: at most ``limit`` in any interval of this length. The window slides."""

    limit: Annotated[int, Field(strict=True, ge=1, le=MAX_COST)]
    """Starts of tasks (``starts``), or units of estimated cost (``spend``)."""
    interval_ms: Annotated[int, Field(strict=True, ge=1, le=86_400_000)]
    """Every interval of this length counts, its newest edge included, not only those between two fixed edges. A minute
    is 60_000."""
