"""One task in a hundred costs a hundred times as much, and more arrives than the pool serves: no tenant waits long.

The measure is the same work without large tasks: each of them arrives as a hundred small ones. A tenant may be behind
it by the gap that docs/fairness.md allows to each other tenant, C + C; the slots need `LATE_MS` to serve it.
"""

import random
from collections import Counter

import pytest

from fairlane.config import TenantConfig
from fairlane.domain.task import TaskRef
from fairlane.store.connection import Endpoint
from tests.support.store_runs import TICK_MS, Arrival, played, together
from tests.support.store_world import task

TENANTS = ("a", "b", "c", "d")
SLOTS, QUANTUM = 16, 100
SMALL, LONGEST_SMALL, LARGE = 100, 140, 10_000
CEILING = 12 * LARGE + 4 * LONGEST_SMALL
TASKS = 300
"""Tasks of each tenant, one every `EVERY_MS`. With the large ones they are 2.5 times as much as the slots serve."""
EVERY_MS = 20
LATE_MS = (len(TENANTS) - 1) * (LONGEST_SMALL + LARGE) / SLOTS


def stream(source: random.Random, spenders: tuple[str, ...]) -> list[Arrival]:
    """The tasks of all tenants. A hundredth of them is large, spread evenly over the streams of these tenants."""
    apart = 100 * len(spenders) // len(TENANTS)
    return [
        (
            number * EVERY_MS,
            task(
                f"t{number:03}",
                LARGE if tenant in spenders and number % apart == apart // 2 else small_cost(source),
                tenant=tenant,
            ),
        )
        for number in range(TASKS)
        for tenant in TENANTS
    ]


def fair_waits(arrivals: list[Arrival]) -> dict[str, float]:
    """The wait of each tenant's last task if service were a fluid: a tenant gets its share and what others leave."""
    work = Counter[str]()
    for _, each in arrivals:
        work[each.ref.tenant] += each.cost
    ends = {tenant: min(len(TENANTS) * own, work.total()) / SLOTS for tenant, own in work.items()}
    return {tenant: at - TASKS * EVERY_MS for tenant, at in ends.items()}


def small_cost(source: random.Random) -> int:
    return source.randrange(2 * SMALL - LONGEST_SMALL, LONGEST_SMALL + 1, TICK_MS)


def parts(ref: TaskRef) -> list[TaskRef]:
    return [TaskRef(ref.tenant, f"{ref.id}-{number:02}") for number in range(LARGE // SMALL)]


def in_parts(arrivals: list[Arrival]) -> list[Arrival]:
    """The same work, with a hundred small tasks instead of each large one."""
    divided: list[Arrival] = []
    for at, each in arrivals:
        small = [task(part.id, SMALL, tenant=part.tenant) for part in parts(each.ref)]
        divided += [(at, one) for one in (small if each.cost == LARGE else [each])]
    return divided


@pytest.mark.parametrize("spenders", [("a",), TENANTS], ids=["one tenant's", "every tenant's"])
async def test_every_task_large_or_small_waits_about_as_long_as_without_large_ones(
    endpoint: Endpoint, name: str, spenders: tuple[str, ...]
) -> None:
    arrivals = stream(random.Random(1), spenders)
    large = {each.ref for _, each in arrivals if each.cost == LARGE}
    assert len(large) == len(arrivals) // 100
    fair = fair_waits(arrivals)
    tenants = dict.fromkeys(TENANTS, TenantConfig())
    pool = {"slots": SLOTS, "cost_ceiling_units": CEILING, "quantum_units": QUANTUM}
    mixed = (await played(endpoint, name, arrivals, tenants, **pool)).waits
    even = (await played(endpoint, name, in_parts(arrivals), tenants, **pool)).waits
    assert mixed.keys() == {each.ref for _, each in arrivals}
    for ref, wait in even.items():
        assert wait <= fair[ref.tenant] + LATE_MS, ref
    for ref, wait in mixed.items():
        assert wait <= even[parts(ref)[-1] if ref in large else ref] + LATE_MS, ref


async def test_a_large_head_waits_only_for_running_tasks_while_small_ones_could_pass_it(
    endpoint: Endpoint, name: str
) -> None:
    """The ceiling has room for the large task beside few small ones, and more than that run at any time.

    It is due when the two others have got its cost in service, and may start when the tasks that run then have ended.
    """
    source, others = random.Random(2), ("b", "c")
    small = [
        (5 * TICK_MS * (n // 10), task(f"t{n:03}", small_cost(source), tenant=each))
        for n in range(400)
        for each in others
    ]
    arrivals = list(together(small, [(400, task("large", LARGE))]))
    tenants = dict.fromkeys(("a", *others), TenantConfig())
    pool = {"slots": SLOTS, "cost_ceiling_units": LARGE + 4 * SMALL, "quantum_units": QUANTUM}
    run = await played(endpoint, name, arrivals, tenants, **pool)
    due = len(others) * (LONGEST_SMALL + LARGE) / SLOTS
    assert run.waits[TaskRef("a", "large")] <= due + LONGEST_SMALL
    assert len(run.waits) == len(arrivals)
