"""Eight processes call at the same instant: exactly as much happens as the limit allows."""

from collections.abc import Iterator
from typing import Any

import pytest

from fairlane.config import TenantConfig
from fairlane.domain.events import EnqueuedRow, Event
from fairlane.store.messages import SubmitStatus, Write
from tests.support.oracle_ledger import LedgerOracle
from tests.support.store_racers import PROCESSES, Racers
from tests.support.store_windows import window
from tests.support.store_world import START_MS, World, budget, settlement, task, tasks

RESERVATIONS = 50


@pytest.fixture(scope="module")
def racers() -> Iterator[Racers]:
    """Eight processes."""
    with Racers() as racers:
        yield racers


LIMITS_OF_ONE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one slot in the pool": ({"slots": 1}, {}),
    "one slot for the tenant": ({}, {"slots": 1}),
    "cost in flight for one": ({}, {"cost_ceiling_units": 199}),
    "a budget for one": ({}, {"budget": budget(199)}),
    "one start in the pool's window": ({"starts": window(1)}, {}),
    "spend for one in the tenant's window": ({}, {"spend": window(199)}),
}


@pytest.mark.parametrize("limit", LIMITS_OF_ONE)
async def test_of_50_reservations_against_a_limit_of_one_exactly_one_is_made(
    world: World, racers: Racers, limit: str
) -> None:
    pool, tenant = LIMITS_OF_ONE[limit]
    await world.pool(**pool)
    await world.tenant("a", **tenant)
    await world.worker("w1")
    await world.submit(*tasks(RESERVATIONS))
    calls = [("dispatch", ([("w1", 64)], 1))] * RESERVATIONS
    answers = await racers.race(world.endpoint, world.name, calls)
    assert len(answers) == RESERVATIONS
    assert sum(answer.placed for answer in answers) == 1
    assert len(await world.rows("enqueued")) == 1
    assert len(await world.start()) == 1


def _checked(events: list[Event], limit: int) -> LedgerOracle:
    """Replay the events; after each one, held and spent are within the limit."""
    oracle = LedgerOracle()
    oracle.configure("a", TenantConfig(budget=budget(limit)), START_MS)
    for event in events:
        oracle.feed(event)
    return oracle


async def test_of_100_submits_on_a_budget_for_three_three_are_placed(world: World, racers: Racers) -> None:
    await world.ready(tenant={"budget": budget(300)}, slots=100)
    calls: list[tuple[str, tuple[Any, ...]]] = []
    for submission in tasks(100):
        calls += [("submit", ([submission], "c")), ("dispatch", ([("w1", 100)], 100))]
    # Each process gets submits and dispatches in turn.
    calls = [*calls[0::2], *calls[1::2]]
    answers = await racers.race(world.endpoint, world.name, calls)
    submitted = [answer[0].status for answer in answers if isinstance(answer, list)]
    assert submitted == [SubmitStatus.ACCEPTED] * 100
    assert sum(answer.placed for answer in answers if not isinstance(answer, list)) == 3
    oracle = _checked(await world.events(), 300)
    oracle.expect("a", await world.ledger(), world.now)
    assert (await world.ledger()).held == 300


async def test_refunds_in_the_same_race_admit_the_tasks_that_they_pay_for(world: World, racers: Racers) -> None:
    await world.ready(tenant={"budget": budget(300)}, slots=100)
    running = await world.active(*tasks(3))
    await world.submit(*tasks(97, first=3))
    while running:
        settles = [("settle", ("w1", [settlement(each, actual=50)])) for each in running]
        await racers.race(world.endpoint, world.name, [*settles, *[("dispatch", ([("w1", 64)], 64))] * 13])
        await world.dispatch()
        ended = {each.fence for each in running}
        running = [each for each in await world.start() if each.fence not in ended]
    ledger = await world.ledger()
    assert (ledger.held, ledger.spent, ledger.overrun, ledger.remaining) == (0, 250, 0, 50)
    committed = 0
    for row in await world.rows("enqueued", "completed"):
        committed += row.cost if isinstance(row, EnqueuedRow) else row.actual - 100
        assert committed <= 300


async def test_one_settlement_from_eight_processes_counts_once(world: World, racers: Racers) -> None:
    await world.ready(tenant={"budget": budget(500)})
    (started,) = await world.active(task("t"))
    end = ("settle", ("w1", [settlement(started, actual=70)]))
    answers = await racers.race(world.endpoint, world.name, [end] * RESERVATIONS)
    assert sorted(str(answer[0]) for answer in answers) == ["done"] + ["repeated"] * (RESERVATIONS - 1)
    assert (await world.ledger()).spent == 70
    await world.store.evict("w1")


async def test_late_usage_and_a_top_up_from_eight_processes_count_once(world: World, racers: Racers) -> None:
    await world.ready(tenant={"budget": budget(500)})
    (started,) = await world.active(task("t"))
    await world.store.evict("w1")
    late = ("settle", ("w1", [settlement(started, actual=70)]))
    more = ("top_up", ("a", 100, "invoice"))
    answers = await racers.race(world.endpoint, world.name, [late, more] * PROCESSES + [more] * PROCESSES)
    assert {answer if isinstance(answer, int) else answer[0] for answer in answers} == {600, Write.STALE}
    ledger = await world.ledger()
    assert (ledger.limit, ledger.late, ledger.spent_total) == (600, 70, 70)
