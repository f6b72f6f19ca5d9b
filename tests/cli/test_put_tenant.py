"""``fairlane tenants put`` changes the limits that are named, and no others."""

from typing import Any

import pytest

from fairlane.cli.app import run
from fairlane.config import BudgetConfig, TenantConfig, WindowConfig
from fairlane.domain.policy import BudgetPolicy
from fairlane.store.messages import TenantView
from fairlane.store.store import Store
from tests.support.store_world import World, budget, task

from .conftest import Operator

DECADE = 10 * 365 * 24 * 3600 * 1000
"""A period that does not end while a test runs."""
FULL = TenantConfig(
    weight=2,
    slots=3,
    cost_ceiling_units=400,
    queue_limit=50,
    budget=BudgetConfig(limit_units=600, period_ms=DECADE, anchor_ms=7, when_exhausted=BudgetPolicy.REJECT),
    starts=WindowConfig(limit=8, interval_ms=900),
    spend=WindowConfig(limit=1000, interval_ms=1100),
)
FULL_OPTIONS = (
    "--weight 2 --slots 3 --cost-ceiling-units 400 --queue-limit 50 --budget-units 600"
    f" --budget-period-ms {DECADE} --budget-anchor-ms 7 --when-exhausted reject --starts 8/900 --spend 1000/1100"
)
WITHOUT_PERIOD = BudgetConfig(limit_units=600, when_exhausted=BudgetPolicy.REJECT)


def view(operator: Operator, tenant: str = "acme") -> TenantView:
    found = operator.within(lambda world: world.store.tenant(tenant))
    assert found is not None
    return found


def with_budget(**changes: Any) -> TenantConfig:
    return FULL.model_copy(update={"budget": FULL.budget.model_copy(update=changes)})


def test_a_changed_weight_keeps_the_budget_period_and_the_spending(operator: Operator) -> None:
    limits = "--budget-units 500", f"--budget-period-ms {DECADE}", "--starts 60/60000"
    operator.run("tenants", "put", "acme", *" ".join(limits).split())

    async def spend(world: World) -> None:
        await world.worker()
        first, _ = await world.active(task("t", 100, tenant="acme"), task("u", 50, tenant="acme"))
        await world.settle(first, actual=130)
        await world.store.top_up("acme", 40, "more")

    operator.within(spend)
    before = view(operator)
    assert (before.ledger.limit, before.ledger.spent, before.ledger.held, before.ledger.overrun) == (540, 130, 50, 30)
    assert operator.run("tenants", "put", "acme", "--weight", "3") == "tenant acme changed: weight 1 -> 3\n"
    after = view(operator)
    assert after.ledger == before.ledger
    assert after.limits == before.limits.model_copy(update={"weight": 3})


def test_a_new_tenant_has_the_default_of_each_limit_without_an_option(operator: Operator) -> None:
    assert operator.run("tenants", "put", "acme", "--slots", "3") == "tenant acme registered\n"
    assert view(operator).limits == TenantConfig(slots=3)


def test_every_limit_has_its_option(operator: Operator) -> None:
    operator.run("tenants", "put", "acme", *FULL_OPTIONS.split())
    assert view(operator).limits == FULL


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--weight 9", FULL.model_copy(update={"weight": 9})),
        ("--slots none", FULL.model_copy(update={"slots": None})),
        ("--cost-ceiling-units none", FULL.model_copy(update={"cost_ceiling_units": None})),
        ("--queue-limit 7", FULL.model_copy(update={"queue_limit": 7})),
        ("--budget-units none", FULL.model_copy(update={"budget": None})),
        ("--budget-units 0", with_budget(limit_units=0)),
        ("--budget-period-ms none", FULL.model_copy(update={"budget": WITHOUT_PERIOD})),
        ("--budget-anchor-ms 0", with_budget(anchor_ms=0)),
        ("--when-exhausted wait", with_budget(when_exhausted=BudgetPolicy.WAIT)),
        ("--starts none", FULL.model_copy(update={"starts": None})),
        ("--spend 5/6", FULL.model_copy(update={"spend": WindowConfig(limit=5, interval_ms=6)})),
    ],
)
def test_an_option_changes_its_limit_only(operator: Operator, options: str, expected: TenantConfig) -> None:
    operator.run("tenants", "put", "acme", *FULL_OPTIONS.split())
    assert operator.run("tenants", "put", "acme", *options.split()).startswith("tenant acme changed: ")
    assert view(operator).limits == expected


def test_without_a_change_nothing_is_written(operator: Operator) -> None:
    operator.run("tenants", "put", "acme", *FULL_OPTIONS.split())
    events = operator.within(lambda world: world.events())
    assert operator.run("tenants", "put", "acme") == "tenant acme unchanged\n"
    assert operator.run("tenants", "put", "acme", "--weight", "2", "--slots", "3") == "tenant acme unchanged\n"
    assert operator.within(lambda world: world.events()) == events


@pytest.mark.parametrize(
    ("options", "is_said"),
    [(f"--budget-period-ms {DECADE}", True), ("--budget-units 700", False), ("--budget-units none", False)],
)
def test_the_command_says_if_a_new_budget_period_has_begun(operator: Operator, options: str, is_said: bool) -> None:
    operator.run("tenants", "put", "acme", "--budget-units", "500")
    periods = operator.within(lambda world: world.rows("period"))
    message = operator.run("tenants", "put", "acme", *options.split())
    assert ("a new budget period has begun" in message) is is_said
    assert (operator.within(lambda world: world.rows("period")) != periods) is is_said


def test_two_operators_at_once_lose_no_change(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.run("tenants", "put", "acme", "--budget-units", "500")
    read, reads = Store.tenant, []

    async def read_before_another_writes(store: Store, tenant: str) -> TenantView | None:
        found = await read(store, tenant)
        reads.append(found)
        if len(reads) == 1:
            assert await store.change_tenant(tenant, found.limits, found.limits.model_copy(update={"slots": 9}))
        return found

    monkeypatch.setattr(Store, "tenant", read_before_another_writes)
    assert operator.run("tenants", "put", "acme", "--weight", "4") == "tenant acme changed: weight 1 -> 4\n"
    assert len(reads) == 2
    monkeypatch.undo()
    assert view(operator).limits == TenantConfig(weight=4, slots=9, budget=budget(500))


def test_the_command_gives_up_if_others_keep_changing_the_tenant(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.run("tenants", "put", "acme", "--weight", "2")

    async def refuse(*_: object) -> bool:
        return False

    monkeypatch.setattr(Store, "change_tenant", refuse)
    assert "others changed it during each of 100 tries" in operator.run(
        "tenants", "put", "acme", "--weight", "4", code=1
    )
    assert view(operator).limits == TenantConfig(weight=2)


def test_a_tenant_that_another_operator_registers_meanwhile_keeps_its_limits(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, reads = Store.tenant, []

    async def read_before_another_registers(store: Store, tenant: str) -> TenantView | None:
        found = await read(store, tenant)
        reads.append(found)
        if found is None:
            assert await store.put_tenants({tenant: FULL})
        return found

    monkeypatch.setattr(Store, "tenant", read_before_another_registers)
    assert operator.run("tenants", "put", "acme", "--weight", "4") == "tenant acme changed: weight 2 -> 4\n"
    monkeypatch.undo()
    assert view(operator).limits == FULL.model_copy(update={"weight": 4})


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--weight heavy", 2, "'--weight': 'heavy': must be a whole number"),
        ("--weight 0", 1, "--weight = 0: must be at least 1"),
        ("--slots many", 2, "'--slots': 'many': must be a whole number, or none"),
        ("--slots 1.5", 2, "'--slots': '1.5': must be a whole number, or none"),
        ("--slots 0", 1, "--slots = 0: must be at least 1"),
        ("--slots " + "9" * 30, 1, f"--slots = {'9' * 30}: must be at most 1000000"),
        ("--cost-ceiling-units -1", 1, "--cost-ceiling-units = -1: must be at least 1"),
        ("--queue-limit none", 2, "'--queue-limit': 'none': must be a whole number"),
        ("--budget-units -1", 1, "--budget-units = -1: must be at least 0"),
        ("--budget-period-ms 5", 1, "--budget-period-ms = 5: must be at least 1000"),
        ("--budget-anchor-ms -1", 1, "--budget-anchor-ms = -1: must be at least 0"),
        ("--when-exhausted maybe", 2, "'--when-exhausted'"),
        ("--starts 5", 2, "'--starts': '5': must be LIMIT/INTERVAL_MS, such as 60/60000, or none"),
        ("--starts 0/5", 1, "--starts = 0/5: limit = 0: must be at least 1"),
        ("--spend 5/0", 1, "--spend = 5/0: interval_ms = 0: must be at least 1"),
        ("--budget-units none --when-exhausted wait", 1, "--when-exhausted: --budget-units is none"),
        ("--budget-period-ms none --budget-anchor-ms 5", 1, "--budget-anchor-ms: 5 needs a period_ms"),
    ],
)
def test_an_invalid_value_is_refused_before_a_server_is_contacted(
    options: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tenants", "put", "acme", *options.split(), "--redis", "redis://127.0.0.1:1"]) == code
    captured = capsys.readouterr()
    assert captured.err.startswith("fairlane: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_an_anchor_needs_a_budget_with_periods(operator: Operator) -> None:
    operator.run("tenants", "put", "acme", "--budget-units", "500")
    message = operator.run("tenants", "put", "acme", "--budget-anchor-ms", "5", code=1)
    assert message.startswith("fairlane: --budget-anchor-ms: 5 needs a period_ms; ")
    assert view(operator).limits == TenantConfig(budget=budget(500))


@pytest.mark.parametrize("options", ["--budget-period-ms 5000", "--budget-anchor-ms 5", "--when-exhausted reject"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_budgets_details_need_a_budget(operator: Operator, options: str, exists: bool) -> None:
    if exists:
        operator.run("tenants", "put", "acme", "--weight", "2")
    message = operator.run("tenants", "put", "acme", *options.split(), code=1)
    option, _ = options.split()
    assert message == (
        f"fairlane: {option}: the tenant has no budget; give --budget-units a number, or leave {option} out\n"
    )
    assert (operator.within(lambda world: world.store.tenant("acme")) is not None) is exists
