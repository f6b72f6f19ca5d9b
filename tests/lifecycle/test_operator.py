"""An operator alone: it needs a scheduler's store, but neither the scheduler's process nor Ray."""

import asyncio
from functools import partial

import pytest

from fairlane import InvalidTask, Operator, TenantConfig
from tests.lifecycle.harness import Harness


async def test_an_operator_changes_and_reads_a_scheduler_that_runs_elsewhere(pool: Harness) -> None:
    await pool.put()
    operator = Operator(pool.store)
    await operator.put_tenant("gamma", TenantConfig(weight=7))
    found = await operator.tenant("gamma")
    assert found is not None
    assert found.limits.weight == 7
    await operator.pause(60_000)
    assert (await operator.snapshot()).pool.paused_ms > 0
    await operator.resume()
    assert (await operator.snapshot()).pool.paused_ms == 0
    assert await operator.remove_tenant("gamma")
    assert await operator.tenant("gamma") is None


async def test_changes_of_several_operators_at_once_all_count(pool: Harness) -> None:
    await pool.put()
    operator = Operator(pool.store)
    changes = {"weight": 3, "slots": 4, "cost_ceiling_units": 500, "queue_limit": 60}

    def change(field: str, limits: TenantConfig | None) -> TenantConfig:
        return (limits or TenantConfig()).model_copy(update={field: changes[field]})

    await asyncio.gather(*(operator.change_tenant("gamma", partial(change, field)) for field in changes))
    found = await operator.tenant("gamma")
    assert found is not None
    assert found.limits == TenantConfig(**changes)


@pytest.mark.parametrize(
    "operation",
    [
        lambda operator: operator.put_tenant("a b", TenantConfig()),
        lambda operator: operator.change_tenant("a b", lambda _: TenantConfig()),
        lambda operator: operator.remove_tenant("a b"),
        lambda operator: operator.tenant("a b"),
        lambda operator: operator.ledger("a b"),
        lambda operator: operator.top_up("a b", 1, "key"),
    ],
)
async def test_an_invalid_tenant_id_is_refused(pool: Harness, operation) -> None:
    with pytest.raises(InvalidTask, match="tenant = 'a b': must start with a letter or digit"):
        await operation(Operator(pool.store))
