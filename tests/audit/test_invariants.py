"""Every rule finds its kind of corruption and names it; a sound state has no violations."""

import struct
from collections.abc import Awaitable, Callable

import pytest

from fairlane.audit import Rule, Violation, check_invariants
from fairlane.domain.policy import ParkReason
from fairlane.domain.task import TaskRef, TaskState
from tests.support.store_dump import unchanged
from tests.support.store_packed import poke, queued
from tests.support.store_raw import command
from tests.support.store_world import World, task

Spoil = Callable[[World], Awaitable[object]]


def redis(word: str, *key: str, arguments: tuple[str | bytes | int, ...] = ()) -> Spoil:
    """Corrupt the state by one command on one key."""
    return lambda world: command(world.store, word, world.store.keys.key(*key), *arguments)


def number(*key: str, **parts: object) -> Spoil:
    """Corrupt parts of a hash."""
    return lambda world: poke(world.store, *key, **parts)


async def found(world: World) -> list[Violation]:
    violations = await check_invariants(world.store)
    assert all(isinstance(each, Violation) and str(each) for each in violations)
    return violations


async def test_the_fixture_is_as_described(busy: World) -> None:
    states = [await busy.state(f"t0000{number}") for number in range(7)]
    assert states == [
        TaskState.COMPLETED, TaskState.PENDING, TaskState.ACTIVE, TaskState.ACTIVE, TaskState.ENQUEUED,
        TaskState.PENDING, TaskState.PENDING,
    ]  # fmt: skip
    tenant = await busy.tenant_view()
    assert (tenant.parked, tenant.queued, tenant.waiting, tenant.slots) == (ParkReason.SLOTS, 2, 1, 3)
    assert (await busy.tenant_view("b")).in_calendar


async def test_a_sound_state_has_no_violation_and_is_only_read(busy: World) -> None:
    async with unchanged(busy.store, clock=True):
        assert await check_invariants(busy.store) == []


STRUCTURE: dict[str, tuple[Spoil, str]] = {
    "a queued task is not in its queue": (
        redis("ZREM", "pending", "b", arguments=(queued(30, "u2"),)),
        "pending:b 30:u2",
    ),
    "a queued task lost its place": (redis("ZADD", "pending", "b", arguments=(5, queued(30, "u2"))), "pending:b 30:u2"),
    "a queued task has another cost": (
        redis("ZADD", "pending", "b", arguments=(5, queued(71, "u1"))),
        "pending:b 71:u1",
    ),
    "a head lost its place": (number("tenant", "b", head_score=5), "pending:b 70:u1"),
    "a head is gone": (number("tenant", "b", head_id=""), "pending:b 70:u1"),
    "a head has another cost": (number("tenant", "b", head_cost=71), "pending:b 71:u1"),
    "a queued task without a record": (redis("DEL", "task", "b", "u1"), "pending:b 70:u1"),
    "an active task is queued too": (
        redis("ZADD", "pending", "a", arguments=(5, queued(100, "t00003"))),
        "pending:a 100:t00003",
    ),
    "an enqueued task was not handed over": (
        redis("ZREM", "handed", "w1", arguments=("a:t00004",)),
        "handed:w1 a:t00004",
    ),
    "an enqueued task has another fence": (
        redis("ZADD", "handed", "w1", arguments=(99, "a:t00004")),
        "handed:w1 a:t00004",
    ),
    "an active task is still handed over": (
        redis("ZADD", "handed", "w1", arguments=(4, "a:t00003")),
        "handed:w1 a:t00003",
    ),
    "an ended task is still handed over": (
        redis("ZADD", "handed", "w1", arguments=(1, "a:t00000")),
        "handed:w1 a:t00000",
    ),
    "a task is handed over twice": (redis("ZADD", "handed", "w9", arguments=(5, "a:t00004")), "handed:w9 a:t00004"),
    "a cancelled task is not announced": (redis("DEL", "cancelling", "w1"), "cancelling:w1 a:t00002"),
    "a task is announced that was not cancelled": (
        redis("ZADD", "cancelling", "w1", arguments=(4, "a:t00003")),
        "cancelling:w1 a:t00003",
    ),
    "a waiting task will never wake": (redis("ZREM", "timers", arguments=("ready:a:t00001",)), "timers ready:a:t00001"),
    "a deadline will never strike": (
        redis("ZREM", "timers", arguments=("deadline:a:t00006",)),
        "timers deadline:a:t00006",
    ),
    "a timer of an ended task": (
        redis("ZADD", "timers", arguments=(9, "deadline:a:t00000")),
        "timers deadline:a:t00000",
    ),
    "a timer of nothing": (redis("ZADD", "timers", arguments=(9, "ready:a:none")), "timers ready:a:none"),
    "two attempts with one fence": (
        lambda world: poke(world.store, "task", "a", "t00003", fence=5),
        "task:a:t0000",
    ),
    "a fence from the future": (number("pool", fence=2), "task:a:t0000"),
    "an enqueued task without its attempt": (redis("HDEL", "flight", arguments=("a:t00004",)), "handed:w1 a:t00004"),
    "an active task without its attempt": (redis("HDEL", "flight", arguments=("a:t00003",)), "pending:a 100:t00003"),
}


@pytest.mark.parametrize("case", STRUCTURE)
async def test_a_task_in_the_wrong_structures_is_found(busy: World, case: str) -> None:
    spoil, subject = STRUCTURE[case]
    await spoil(busy)
    assert [each for each in await found(busy) if each.rule is Rule.STRUCTURE and each.subject.startswith(subject)]


@pytest.mark.parametrize(
    ("key", "part"),
    [(("pool",), part) for part in ("slots", "active", "cost", "live", "runnable")]
    + [(("tenant", "a"), part) for part in ("slots", "cost", "queued", "waiting")]
    + [(("tenant", "idle"), part) for part in ("slots", "cost", "queued", "waiting")],
)
async def test_a_counter_that_does_not_add_up_is_found(busy: World, key: tuple[str, ...], part: str) -> None:
    await poke(busy.store, *key, **{part: 1234})
    hits = [each for each in await found(busy) if each.rule is Rule.COUNTER]
    assert [(each.subject, each.found) for each in hits] == [(f"{':'.join(key)} {part}", "1234")]
    assert hits[0].expected.isdigit()


async def test_a_worker_s_load_that_does_not_add_up_is_found(busy: World) -> None:
    await poke(busy.store, "worker", "w1", load=7)
    (hit,) = await found(busy)
    assert (hit.rule, hit.subject, hit.found, hit.expected) == (Rule.COUNTER, "worker:w1 load", "7", "3")


async def test_a_negative_counter_is_named_as_such(busy: World) -> None:
    await poke(busy.store, "tenant", "idle", slots=-1)
    assert {each.expected for each in await found(busy)} == {"0", "not negative"}


async def test_a_fraction_in_a_counter_is_found(busy: World) -> None:
    await poke(busy.store, "tenant", "b", owed=0.5)
    (hit,) = [each for each in await found(busy) if each.subject == "tenant:b owed"]
    assert (hit.rule, hit.found, hit.expected) == (Rule.COUNTER, "0.5", "a whole number")


async def test_a_fraction_in_a_task_s_record_is_found(busy: World) -> None:
    await poke(busy.store, "task", "b", "u1", throttles=0.5)
    (hit,) = [each for each in await found(busy) if each.subject == "task:b:u1 throttles"]
    assert (hit.rule, hit.found, hit.expected) == (Rule.COUNTER, "0.5", "a whole number")


def runnable(rank: float, tenant: str, arrival: int = 7) -> Spoil:
    """Add an entry to the calendar."""
    return redis("ZADD", "calendar", arguments=(rank, struct.pack(">d", arrival) + tenant.encode()))


async def moved(world: World) -> None:
    """Move every tenant of the calendar."""
    key = world.store.keys.key("calendar")
    for entry in await command(world.store, "ZRANGE", key, 0, -1):
        await command(world.store, "ZADD", key, 7, entry)


CALENDAR: dict[str, tuple[Spoil, str]] = {
    "a runnable tenant is missing": (redis("DEL", "calendar"), "calendar b"),
    "an idle tenant is runnable": (runnable(9, "idle"), "calendar idle"),
    "a parked tenant is runnable": (runnable(9, "a"), "calendar a"),
    "a tenant is runnable twice": (runnable(9, "b"), "calendar b"),
    "a tenant stands at another virtual time": (moved, "calendar b"),
    "service changed without its entry": (number("tenant", "b", served=10_000), "calendar b"),
    "a base changed without its entry": (number("tenant", "b", base=0.25), "calendar b"),
    "an arrival changed without its entry": (number("tenant", "b", arrival=999), "calendar b"),
    "a tenant that missed a rebasing": (number("pool", rebased=50.0), "tenant:b rebased"),
    "a tenant of another epoch": (number("tenant", "b", epoch=50), "tenant:b epoch"),
    "a parked tenant is forgotten": (redis("HDEL", "parked", arguments=("a",)), "parked a"),
    "a parked tenant for another reason": (redis("HSET", "parked", arguments=("a", "cost")), "parked a"),
    "a tenant is parked that has nothing": (redis("HSET", "parked", arguments=("idle", "slots")), "parked idle"),
    "a tenant is parked that would fit": (number("tenant", "a", slot_ceiling=4), "parked a"),
    "a tenant is nowhere with a queue": (number("tenant", "b", place=""), "tenant:b place"),
    "a tenant is at no place that exists": (number("tenant", "b", place="limbo"), "tenant:b place"),
    "a stranger is runnable": (runnable(9, "stranger"), "calendar or parked stranger"),
}


@pytest.mark.parametrize("case", CALENDAR)
async def test_a_tenant_in_the_wrong_place_is_found(busy: World, case: str) -> None:
    spoil, subject = CALENDAR[case]
    await spoil(busy)
    assert subject in {each.subject for each in await found(busy) if each.rule is Rule.CALENDAR}


OWNERSHIP: dict[str, tuple[Spoil, str]] = {
    "a key of no kind": (redis("SET", "surprise", arguments=("x",)), "surprise"),
    "a record that breaks off": (redis("SET", "task", "a", "odd", arguments=("x",)), "task:a:odd"),
    "an attempt without a record": (redis("DEL", "task", "a", "t00003"), "flight a:t00003"),
    "limits of no tenant": (redis("HSET", "limits", arguments=("gone", "x")), "limits gone"),
    "an ended task for ever": (redis("PERSIST", "task", "a", "t00000"), "task:a:t00000"),
    "a pending task that will vanish": (redis("PEXPIRE", "task", "b", "u1", arguments=(99_999,)), "task:b:u1"),
    "a bell for ever": (redis("LPUSH", "bell", "worker:gone", arguments=("1",)), "bell:worker:gone"),
    "a done list for ever": (redis("PERSIST", "done", "c"), "done:c"),
    "a tombstone for ever": (redis("SET", "tombstone", "a", "x", arguments=("1",)), "tombstone:a:x"),
    "a pool that will vanish": (redis("PEXPIRE", "pool", arguments=(99_999,)), "pool"),
    "a queue of no tenant": (redis("ZADD", "pending", "gone", arguments=(1, queued(5, "x"))), "pending:gone"),
    "a tenant that was not registered": (redis("ZREM", "tenants", arguments=("idle",)), "tenant:idle"),
    "a registration without a tenant": (redis("ZADD", "tenants", arguments=(0, "gone")), "tenant:gone"),
    "a lease without a worker": (redis("ZADD", "workers", arguments=(9, "gone")), "worker:gone"),
    "a worker without a lease": (redis("ZREM", "workers", arguments=("w1",)), "worker:w1"),
    "a hand-over to no worker": (redis("ZADD", "handed", "gone", arguments=(1, "a:x")), "handed:gone"),
    "a name of no worker": (redis("HSET", "names", arguments=("name", "gone")), "names name"),
}


@pytest.mark.parametrize("case", OWNERSHIP)
async def test_a_key_without_an_owner_is_found(busy: World, case: str) -> None:
    spoil, subject = OWNERSHIP[case]
    await spoil(busy)
    subjects = {each.subject for each in await found(busy) if each.rule is Rule.OWNERSHIP}
    assert subject in {each.removeprefix(busy.store.keys.prefix) for each in subjects}


async def test_without_events_the_rest_is_still_checked(busy: World) -> None:
    await busy.pool(lease_ms=3_600_000, event_limit=0)
    await command(busy.store, "DEL", busy.store.keys.events)
    await poke(busy.store, "pool", slots=9)
    assert {each.rule for each in await found(busy)} == {Rule.COUNTER}


@pytest.mark.parametrize("policy", ["priority", "fifo"])
async def test_in_strict_order_the_calendar_is_in_the_order_of_heads(busy: World, policy: str) -> None:
    await busy.store.cancel([TaskRef("a", f"t0000{number}") for number in range(7)])
    await busy.store.cancel([TaskRef("b", "u1"), TaskRef("b", "u2")])
    await busy.store.evict("w1")
    await busy.pool(policy=policy, lease_ms=3_600_000)
    await busy.submit(task("v", priority=5))
    assert await check_invariants(busy.store) == []
    (entry,) = await command(busy.store, "ZRANGE", busy.store.keys.key("calendar"), 0, -1)
    await command(busy.store, "ZADD", busy.store.keys.key("calendar"), 3, entry)
    (hit,) = await found(busy)
    assert (hit.rule, hit.subject) == (Rule.CALENDAR, "calendar a")
