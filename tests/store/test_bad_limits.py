"""Limits out of bounds: the scripts that store limits refuse them, and write nothing."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from fairlane.config import BudgetConfig, PoolConfig, TenantConfig, WindowConfig
from fairlane.errors import ConfigError
from tests.support.store_dump import unchanged
from tests.support.store_world import World, task, tasks

BAD_TENANTS: list[tuple[str, object, dict[str, Any]]] = [
    ("weight", 0, {"weight": 0}),
    ("weight", 2.5, {"weight": 2.5}),
    ("weight", math.nan, {"weight": math.nan}),
    ("weight", math.inf, {"weight": math.inf}),
    ("slot_ceiling", "3", {"slots": "3"}),
    ("slot_ceiling", -1, {"slots": -1}),
    ("cost_ceiling", 2**41, {"cost_ceiling_units": 2**41}),
    ("queue_limit", None, {"queue_limit": None}),
    ("budget", -2, {"budget": BudgetConfig.model_construct(limit_units=-2)}),
    ("budget", 150.5, {"budget": BudgetConfig.model_construct(limit_units=150.5)}),
    ("starts_limit", True, {"starts": WindowConfig.model_construct(limit=True, interval_ms=5)}),
    ("spend_interval", -5, {"spend": WindowConfig.model_construct(limit=1, interval_ms=-5)}),
]
BAD_POOLS: list[tuple[str, object, dict[str, Any]]] = [
    ("hard_limit", 0, {"slots": 0}),
    ("lease", "100", {"lease_ms": "100"}),
    ("event_limit", math.nan, {"event_limit": math.nan}),
    ("cost_ceiling", 1.5, {"cost_ceiling_units": 1.5}),
    ("spend_limit", -1, {"spend": WindowConfig.model_construct(limit=-1, interval_ms=5)}),
]


def unchecked(values: dict[str, Any]) -> TenantConfig:
    """Build limits without validating them."""
    return TenantConfig.model_construct(**values)


@pytest.mark.parametrize("put", ["put_tenants", "change_tenant"])
@pytest.mark.parametrize(("setting", "value", "values"), BAD_TENANTS, ids=lambda each: str(each)[:40])
async def test_an_invalid_tenant_limit_is_refused_and_nothing_written(
    world: World, put: str, setting: str, value: object, values: dict[str, Any]
) -> None:
    await world.ready()
    read = (await world.tenant_view()).limits
    calls: dict[str, Callable[[], Any]] = {
        "put_tenants": lambda: world.store.put_tenants({"new": TenantConfig(), "a": unchecked(values)}),
        "change_tenant": lambda: world.store.change_tenant("a", read, unchecked(values)),
    }
    async with unchanged(world.store, clock=True):
        with pytest.raises(ConfigError) as caught:
            await calls[put]()
    assert str(caught.value).startswith(f"tenants.a.{setting} = {value!r}: must be a whole number from ")
    await world.tenant("b")
    await world.submit(task("t"), task("t", tenant="b"))
    assert (await world.dispatch()).placed == 2


@pytest.mark.parametrize(("setting", "value", "values"), BAD_POOLS, ids=lambda each: str(each)[:40])
async def test_an_invalid_pool_limit_is_refused_and_nothing_written(
    world: World, setting: str, value: object, values: dict[str, Any]
) -> None:
    await world.ready()
    async with unchanged(world.store, clock=True):
        with pytest.raises(ConfigError) as caught:
            await world.store.put_pool(PoolConfig.model_construct(**values))
    assert str(caught.value).startswith(f"pool.{setting} = {value!r}: must be a whole number from ")
    await world.submit(*tasks(2))
    assert (await world.dispatch()).placed == 2


async def test_the_highest_value_of_every_limit_is_stored(world: World) -> None:
    most = TenantConfig(
        weight=10**6, slots=10**6, cost_ceiling_units=2**40, queue_limit=10**9,
        budget=BudgetConfig(limit_units=2**50, period_ms=10 * 365 * 24 * 3600 * 1000, anchor_ms=2**50),
        starts=WindowConfig(limit=2**40, interval_ms=86_400_000), spend=WindowConfig(limit=2**40, interval_ms=1),
    )  # fmt: skip
    await world.pool(quantum_units=2**30, slots=10**6, max_attempts=1000, event_limit=10**8, lease_ms=3_600_000)
    await world.store.put_tenants({"a": most})
    assert (await world.tenant_view()).limits == most
