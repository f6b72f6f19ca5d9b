"""``fairlane status`` shows the whole state, and is readable in any terminal."""

import pytest

from tests.support.store_world import World, budget, task

from .conftest import Operator

LONG = "a-tenant-with-a-rather-long-name@example.org"


async def fill(world: World) -> None:
    await world.worker()
    await world.tenant("acme", weight=3, slots=7, budget=budget(5000))
    await world.tenant("beta")
    await world.store.top_up("acme", 40, "more")
    first, _ = await world.active(task("t", 100, tenant="acme"), task("u", 50, tenant="acme"))
    await world.settle(first, actual=130)


async def fill_wide(world: World) -> None:
    await fill(world)
    month = 30 * 24 * 3600 * 1000
    windows = {"starts": {"limit": 6000, "interval_ms": 60_000}, "spend": {"limit": 900_000, "interval_ms": 60_000}}
    await world.tenant(LONG, slots=1000, budget=budget(1_000_000_000, period_ms=month), **windows)


def row(shown: str, *, after: str, of: str) -> list[str]:
    """Return the cells of a tenant's row in the table whose heading has this word."""
    lines = shown[shown.index(after) :].splitlines()
    (found,) = (line for line in lines if line.strip().startswith(f"{of} "))
    return [cell.strip() for cell in found.split("  ") if cell.strip()]


def test_budgets_are_shown_used_and_whole(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    operator.within(fill)
    shown = operator.run("status")
    assert row(shown, after="budget used", of="acme") == ["acme", "180 of 5040"]
    assert "beta" not in shown[shown.index("budget used") :]


@pytest.mark.parametrize(
    ("limits", "heading", "cell", "others"),
    [
        ("--budget-units 500", "budget used", "0 of 500", {"starts/ms", "spend/ms", "period ends"}),
        ("--starts 60/60000", "starts/ms", "60/60000", {"budget used", "spend/ms", "period ends"}),
        ("--spend 900/1000", "spend/ms", "900/1000", {"budget used", "starts/ms", "period ends"}),
    ],
)
def test_a_limit_that_nobody_has_takes_no_room(
    operator: Operator, limits: str, heading: str, cell: str, others: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    operator.run("tenants", "put", "beta")
    assert not {heading, *others} & {word for word in (heading, *others) if word in operator.run("status")}
    operator.run("tenants", "put", "acme", *limits.split())
    shown = operator.run("status")
    assert row(shown, after=heading, of="acme") == ["acme", cell]
    assert not {other for other in others if other in shown}


@pytest.mark.parametrize("columns", [80, 120])
def test_it_fits_the_terminal_and_omits_nothing(
    operator: Operator, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    operator.within(fill_wide)
    shown = operator.run("status")
    assert max(map(len, shown.splitlines())) <= columns
    assert "…" not in shown
    for value in ("900000/60000", "6000/60000", "180 of 5040", ":00:00"):
        assert value in shown
