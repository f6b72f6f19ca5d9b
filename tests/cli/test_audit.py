"""``fairlane audit``: exit 0 and one line without violations; exit 1 and a line for each violation."""

import pytest

from fairlane.store.store import Store
from tests.support.store_packed import poke
from tests.support.store_raw import command
from tests.support.store_world import World, tasks

from .conftest import Operator


async def fill(world: World) -> None:
    await world.tenant("acme")
    await world.tenant("beta")
    await world.submit(*tasks(3, tenant="acme"))


def test_a_sound_scheduler(operator: Operator) -> None:
    assert operator.run("audit") == "0 tasks, 0 tenants: sound\n"
    operator.within(fill)
    assert operator.run("audit") == "3 tasks, 2 tenants: sound\n"


def test_each_violation_is_one_line(operator: Operator) -> None:
    operator.within(fill)
    odd = "odd\n\x1b[31m[bold]"

    async def spoil(world: World) -> None:
        await command(world.store, "SET", f"{world.store.keys.prefix}{odd}", "x")
        await poke(world.store, "pool", live=4)

    async def mend(world: World) -> None:
        await command(world.store, "DEL", f"{world.store.keys.prefix}{odd}")
        await poke(world.store, "pool", live=3)

    operator.within(spoil)
    code, output, errors = operator.outcome("audit")
    operator.within(mend)
    assert (code, errors) == (1, "")
    lines = output.splitlines()
    assert lines[-1] == "3 tasks, 2 tenants: 2 violations"
    assert len(lines) == 3
    assert sum("counter: pool live: 4; expected 3" in line for line in lines) == 1
    assert sum(r"odd\n\x1b[31m[bold]" in line for line in lines) == 1
    assert operator.run("audit") == "3 tasks, 2 tenants: sound\n"


def test_the_audit_says_if_the_state_changed_during_every_reading(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, readings = Store.stored_pool, []

    async def read_a_moving_pool(store: Store) -> dict[str, int]:
        readings.append(1)
        return {**await read(store), "fence": len(readings)}

    monkeypatch.setattr(Store, "stored_pool", read_a_moving_pool)
    operator.within(fill)
    assert operator.run("audit") == "3 tasks, 2 tenants: sound\n"
    assert len(readings) == 10
    operator.within(lambda world: poke(world.store, "pool", live=4))
    code, output, errors = operator.outcome("audit")
    operator.within(lambda world: poke(world.store, "pool", live=3))
    assert (code, output.splitlines()[-1]) == (1, "3 tasks, 2 tenants: 1 violation")
    assert errors == "fairlane: the state changed during every reading; audit again when nothing runs\n"
