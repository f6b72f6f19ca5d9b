"""docs/operations.md: its commands work on a scheduler, in the order of the page."""

import re
import shlex
from pathlib import Path

from typer.main import get_command

from fairlane.cli.app import app
from fairlane.config import BudgetConfig, TenantConfig, WindowConfig
from fairlane.domain.policy import BudgetPolicy
from tests.support.store_world import World

from .conftest import Operator

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.M | re.S)
    for line in block.splitlines()
]
CONNECTING = ("--redis", "--name")


def without_connection(words: list[str]) -> list[str]:
    """A command of the page without `$ fairlane`, and without the options that say where the scheduler is."""
    kept, words = [], words[2:]
    while words:
        if words[0] in CONNECTING:
            words = words[2:]
        else:
            kept.append(words.pop(0))
    return kept


def test_its_commands_run_one_after_the_other(operator: Operator) -> None:
    ran = []
    for words in COMMANDS:
        assert words[:2] == ["$", "fairlane"]
        command = without_connection(words)
        if command[0] != "serve":
            if command[1:2] == ["show"]:
                found = operator.within(lambda world: world.store.tenant("acme"))
            operator.run(*command)
            ran.append(" ".join(word for word in command[:2] if not word.startswith("-")))
    assert set(ran) == {"tenants put", "tenants show", "tenants top-up", "tenants remove", "status", "audit"}
    assert found is not None
    assert found.limits == TenantConfig(
        weight=3,
        cost_ceiling_units=40_000,
        budget=BudgetConfig(limit_units=1_000_000, period_ms=86_400_000, when_exhausted=BudgetPolicy.REJECT),
        starts=WindowConfig(limit=60, interval_ms=60_000),
    )


def test_its_table_names_every_option_that_is_a_limit() -> None:
    put = get_command(app).commands["tenants"].commands["put"]  # type: ignore[attr-defined]
    options = {name for parameter in put.params for name in parameter.opts if name.startswith("--")}
    table = PAGE.partition("| option | limit |\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(--[\w-]+) ", table, re.M)) == options - {"--help", "--config", *CONNECTING}


async def start_again(world: World, limits: TenantConfig, slots: int) -> None:
    """Write what a start writes."""
    await world.pool(slots=slots)
    await world.store.put_tenants({"acme": limits})


def test_a_start_writes_the_configurations_tenants_over_what_was_changed(operator: Operator) -> None:
    limits = TenantConfig(weight=2, budget=BudgetConfig(limit_units=500))
    operator.within(lambda world: start_again(world, limits, 8))
    operator.run("tenants", "put", "acme", "--weight", "9", "--budget-units", "900")
    operator.run("tenants", "put", "other", "--weight", "5")
    operator.run("tenants", "top-up", "acme", "40", "--key", "k")
    operator.within(lambda world: world.store.set_capacity(3))
    operator.within(lambda world: start_again(world, limits, 8))
    found = {view.id: view for view in operator.within(lambda world: world.store.snapshot()).tenants}
    assert (found["acme"].limits, found["acme"].ledger.limit) == (limits, 540)
    assert found["other"].limits == TenantConfig(weight=5)
    assert operator.within(lambda world: world.pool_view()).capacity == 3
