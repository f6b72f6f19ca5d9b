"""``fairlane tenants show``, ``top-up`` and ``remove``."""

import json

import pytest

from fairlane.cli.app import run
from tests.support.store_world import World, task

from .conftest import Operator

BUDGETED = "--weight 2 --slots 4 --budget-units 500 --budget-period-ms 60000 --budget-anchor-ms 4102444800000"
"""The anchor is at the beginning of 2100, and of a minute."""


async def one_spends(world: World) -> None:
    await world.worker()
    first, _ = await world.active(task("t", 100, tenant="acme"), task("u", 50, tenant="acme"))
    await world.settle(first, actual=130)


def rows(shown: str) -> dict[str, str]:
    """The rows of a table of two columns."""
    pairs = (line.strip().split("  ", 1) for line in shown.splitlines() if "  " in line.strip())
    return {name: value.strip() for name, value in pairs}


def test_show_tells_limits_place_and_ledger(operator: Operator) -> None:
    operator.run("tenants", "put", "acme", "--weight", "2", "--slots", "4", "--budget-units", "500")
    operator.within(one_spends)
    shown = rows(operator.run("tenants", "show", "acme"))
    assert {name: shown[name] for name in ("weight", "slots", "budget-units", "when-exhausted", "starts")} == {
        "weight": "2", "slots": "4", "budget-units": "500", "when-exhausted": "wait", "starts": "none",
    }  # fmt: skip
    assert (shown["place"], shown["in flight"]) == ("idle", "1 of 4")
    ledger = ("limit", "held", "spent", "remaining", "overrun", "late", "period ends, UTC")
    assert [shown[name] for name in ledger] == ["500", "50", "130", "320", "30", "0", "never"]


def test_show_says_when_the_period_ends(operator: Operator) -> None:
    operator.run("tenants", "put", "acme", *BUDGETED.split())
    (shown,) = (line for line in operator.run("tenants", "show", "acme").splitlines() if "period ends" in line)
    assert shown.strip().endswith(":00")  # the anchor is on a minute, and the period is one
    facts = json.loads(operator.run("tenants", "show", "acme", "--json"))
    assert facts["ledger"]["period_ends_ms"] % 60_000 == 0


def test_show_says_where_a_tenant_stands(operator: Operator) -> None:
    def place() -> tuple[str, str, str | None]:
        facts = json.loads(operator.run("tenants", "show", "acme", "--json"))
        return rows(operator.run("tenants", "show", "acme"))["place"], facts["place"], facts["parked_by"]

    async def submit(world: World) -> None:
        await world.worker()
        await world.submit(task("t", 100, tenant="acme"), task("u", 100, tenant="acme"))

    operator.run("tenants", "put", "acme", "--budget-units", "150")
    assert place() == ("idle", "idle", None)
    operator.within(submit)
    assert place() == ("calendar", "calendar", None)
    operator.within(lambda world: world.dispatch())
    assert place() == ("parked by budget", "parked", "budget")


def test_show_as_json_has_every_limit_and_the_whole_ledger(operator: Operator) -> None:
    operator.run("tenants", "put", "acme", "--weight", "2", "--budget-units", "500", "--starts", "60/60000")
    operator.within(one_spends)
    printed = operator.run("tenants", "show", "acme", "--json")
    assert printed.count("\n") == 1
    assert json.loads(printed) == {
        "tenant": "acme",
        "limits": {
            "weight": 2,
            "slots": None,
            "cost_ceiling_units": None,
            "queue_limit": 1_000_000,
            "budget": {"limit_units": 500, "period_ms": None, "anchor_ms": 0, "when_exhausted": "wait"},
            "starts": {"limit": 60, "interval_ms": 60_000},
            "spend": None,
        },
        "place": "idle",
        "parked_by": None,
        "queued": 0,
        "waiting": 0,
        "in_flight": 1,
        "cost_in_flight": 50,
        "deficit": json.loads(printed)["deficit"],
        "owed": 0,
        "ledger": {
            "limit": 500,
            "held": 50,
            "spent": 130,
            "overrun": 30,
            "late": 0,
            "held_before": 0,
            "spent_before": 0,
            "spent_total": 130,
            "period_ends_ms": None,
            "remaining": 320,
        },
    }


def test_a_top_up_counts_once_per_key(operator: Operator) -> None:
    operator.run("tenants", "put", "acme", "--budget-units", "500")
    for key, limit in (("monday", 540), ("monday", 540), ("tuesday", 580)):
        message = operator.run("tenants", "top-up", "acme", "40", "--key", key)
        assert message == f"tenant acme: the budget is now {limit} units\n"
    assert json.loads(operator.run("tenants", "show", "acme", "--json"))["ledger"]["limit"] == 580


@pytest.mark.parametrize(
    ("tenant", "units", "key", "message"),
    [
        ("acme", "0", "k", "units = 0: must be a whole number from 1 to"),
        ("acme", "5", "a b", "key = 'a b': must start with a letter or digit"),
        ("free", "5", "k", "tenant free: no budget"),
        ("nobody", "5", "k", "tenant nobody: unknown"),
    ],
)
def test_an_impossible_top_up_is_refused(operator: Operator, tenant: str, units: str, key: str, message: str) -> None:
    operator.run("tenants", "put", "acme", "--budget-units", "500")
    operator.run("tenants", "put", "free")
    assert message in operator.run("tenants", "top-up", tenant, units, "--key", key, code=1)


def test_a_top_up_needs_units_and_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tenants", "top-up", "acme", "5"]) == 2
    assert run(["tenants", "top-up", "acme", "five", "--key", "k"]) == 2
    message = capsys.readouterr().err.splitlines()
    assert "--key" in message[0]
    assert "'five': must be a whole number" in message[1]


def test_remove_forgets_a_tenant(operator: Operator) -> None:
    operator.run("tenants", "put", "acme")
    assert operator.run("tenants", "remove", "acme") == "tenant acme removed\n"
    for command in ("remove", "show"):
        assert operator.run("tenants", command, "acme", code=1) == (
            "fairlane: tenant acme is not registered; fairlane tenants put acme registers it\n"
        )


@pytest.mark.parametrize("command", ["put", "show", "remove"])
def test_an_unknown_scheduler_is_refused_by_name(operator: Operator, endpoint, command: str, capsys) -> None:  # type: ignore[no-untyped-def]
    assert run(["tenants", command, "acme", "--redis", endpoint.url, "--name", "nobody"]) == 1
    assert "name = nobody: no scheduler of this name on" in capsys.readouterr().err
