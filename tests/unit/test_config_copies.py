"""A copy of a section is checked like a new section."""

import copy
import math
from typing import Any

import pytest

from fairlane.config import BudgetConfig, PoolConfig, SchedulerConfig, TenantConfig, WindowConfig, build
from fairlane.errors import ConfigError

FULL = TenantConfig(
    weight=2, slots=3, budget=BudgetConfig(limit_units=5, period_ms=1000, anchor_ms=7), starts=WindowConfig(
        limit=1, interval_ms=1
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    "update",
    [{"slots": "3"}, {"weight": 0}, {"weight": 2.5}, {"weight": math.nan}, {"queue_limit": None}],
    ids=str,
)
def test_a_copy_refuses_the_values_that_a_new_section_refuses(update: dict[str, Any]) -> None:
    ((field, value),) = update.items()
    with pytest.raises(ConfigError) as caught:
        FULL.model_copy(update=update)
    assert str(caught.value).startswith(f"{field} = {value!r}: ")


def test_a_copy_refuses_an_unknown_field() -> None:
    with pytest.raises(ConfigError, match="unknown field `wieght` in TenantConfig; did you mean `weight`"):
        FULL.model_copy(update={"wieght": 1})


def test_a_copy_is_checked_as_a_whole() -> None:
    with pytest.raises(ConfigError, match=r"workers\.heartbeat_ms"):
        SchedulerConfig().model_copy(update={"pool": PoolConfig(lease_ms=100)})
    assert FULL.budget is not None
    with pytest.raises(ConfigError, match="anchor_ms: 7 needs a period_ms"):
        FULL.budget.model_copy(update={"period_ms": None})


def test_a_section_inside_another_is_checked_again() -> None:
    unchecked = BudgetConfig.model_construct(limit_units=-1)
    with pytest.raises(ConfigError, match="limit_units = -1"):
        TenantConfig(budget=unchecked)
    with pytest.raises(ConfigError, match=r"budget\.limit_units = -1"):
        FULL.model_copy(update={"budget": unchecked})


def test_a_copy_keeps_the_fields_that_are_not_updated() -> None:
    assert FULL.model_copy(update={"weight": 9}) == TenantConfig(**{**dict(FULL), "weight": 9})
    for same in (FULL.model_copy(), FULL.model_copy(deep=True), copy.copy(FULL), copy.deepcopy(FULL)):
        assert same == FULL


@pytest.mark.parametrize("values", [{}, {"period_ms": None}], ids=str)
def test_an_anchor_needs_a_period(values: dict[str, Any]) -> None:
    assert build(BudgetConfig, {"limit_units": 1, "anchor_ms": 0, **values}).anchor_ms == 0
    with pytest.raises(ConfigError) as caught:
        build(TenantConfig, {"budget": {"limit_units": 1, "anchor_ms": 5, **values}})
    assert str(caught.value).startswith("budget.anchor_ms: 5 needs a period_ms; ")
    with pytest.raises(ConfigError) as caught:
        build(BudgetConfig, {"limit_units": 1, "anchor_ms": 5, "period_ms": 999})
    assert str(caught.value).startswith("period_ms = 999: ")
