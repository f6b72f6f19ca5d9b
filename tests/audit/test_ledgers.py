"""The audit adds up ledgers and windows again, and finds a wrong sum, place, period or timer."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from fairlane.audit import Rule, Violation, check_invariants
from fairlane.domain.policy import ParkReason
from fairlane.store.codec import pack
from fairlane.store.connection import Endpoint
from tests.support.store_dump import unchanged
from tests.support.store_packed import poke
from tests.support.store_raw import command
from tests.support.store_windows import window
from tests.support.store_world import World, budget, task, tasks

Spoil = Callable[[World], Awaitable[object]]


@pytest.fixture
async def rich(endpoint: Endpoint, name: str) -> AsyncIterator[World]:
    """Amounts in every field of ledgers and windows. The state is sound until the test corrupts it.

    Tenant ``a``, in its second period, has t00000 completed (60), t00001 active since the first period, t00002 active,
    t00003 enqueued, and is parked by its window of spend with t00004. Tenant ``b`` is parked by its budget, tenant
    ``c`` by its window of starts. The pool has both windows.
    """
    world = World(endpoint, name)
    async with world.store as store:
        roomy = window(1000, 10**6)
        await world.ready(
            tenant={"budget": budget(500, period_ms=1000), "spend": window(400, 10**6)},
            lease_ms=3_600_000, starts=roomy, spend=window(10**6, 10**6),
        )  # fmt: skip
        await world.tenant("b", budget=budget(100, period_ms=10**6))
        await world.tenant("c", starts=window(1, 5000))
        started = await world.active(*tasks(2))
        await world.settle(started[0], actual=60)
        world.now += 1000
        await world.active(*tasks(1, first=2))
        await world.active(task("t", tenant="b"), task("t", tenant="c"))
        await world.submit(*tasks(2, first=3), task("u", tenant="b"), task("u", tenant="c"))
        await world.dispatch()
        assert await check_invariants(store) == []
        yield world
        await store.erase()


def redis(word: str, *key: str, arguments: tuple[str | bytes | int, ...] = ()) -> Spoil:
    """Corrupt the state by one command on one key."""
    return lambda world: command(world.store, word, world.store.keys.key(*key), *arguments)


def number(*key: str, **parts: object) -> Spoil:
    """Corrupt parts of a hash."""
    return lambda world: poke(world.store, *key, **parts)


def stamp(*values: int) -> bytes:
    """A stamp as it is stored."""
    return b"".join(map(pack, values))


async def found(world: World, rule: Rule) -> list[Violation]:
    return [each for each in await check_invariants(world.store) if each.rule is rule]


async def test_the_fixture_is_as_described_and_is_only_read(rich: World) -> None:
    parked = {each.id: each.parked for each in (await rich.store.snapshot()).tenants}
    assert parked == {"a": ParkReason.SPEND, "b": ParkReason.BUDGET, "c": ParkReason.STARTS}
    ledger = await rich.ledger()
    assert (ledger.held, ledger.held_before, ledger.spent_before, ledger.spent_total) == (200, 100, 60, 60)
    async with unchanged(rich.store, clock=True):
        assert await check_invariants(rich.store) == []


@pytest.mark.parametrize("part", ["held_before", "spend_sum"])
@pytest.mark.parametrize("tenant", ["a", "b"])
async def test_a_sum_that_does_not_add_up_is_found(rich: World, tenant: str, part: str) -> None:
    await poke(rich.store, "tenant", tenant, **{part: 7})
    expected = {"a": {"held_before": "100", "spend_sum": "400"}, "b": {"held_before": "0", "spend_sum": "0"}}
    assert [(each.subject, each.found, each.expected) for each in await found(rich, Rule.COUNTER)] == [
        (f"tenant:{tenant} {part}", "7", expected[tenant][part])
    ]


async def test_the_pool_s_sum_of_spend_is_added_up_too(rich: World) -> None:
    await poke(rich.store, "pool", spend_sum=7)
    assert [each.subject for each in await found(rich, Rule.COUNTER)] == ["pool spend_sum"]


@pytest.mark.parametrize(
    "part",
    [
        "spent",
        "overrun",
        "late",
        "top_up",
        "period",
        "held_before",
        "spent_before",
        "spent_total",
        "starts_count",
        "spend_sum",
    ],
)
async def test_a_negative_amount_is_named_as_such(rich: World, part: str) -> None:
    await poke(rich.store, "tenant", "b", **{part: -1})
    hits = {(each.subject, each.found, each.expected) for each in await found(rich, Rule.COUNTER)}
    assert (f"tenant:b {part}", "-1", "not negative") in hits


@pytest.mark.parametrize(("parts", "subject"), [
    ({"overrun": 5}, "tenant:b overrun"),
    ({"spent": 5}, "tenant:b spent_total"),
    ({"late": 5}, "tenant:b spent_total"),
    ({"spent_before": 5}, "tenant:b spent_total"),
])  # fmt: skip
async def test_parts_that_exceed_their_whole_are_found(rich: World, parts: dict[str, int], subject: str) -> None:
    await poke(rich.store, "tenant", "b", **parts)
    assert [each.subject for each in await found(rich, Rule.COUNTER)] == [subject]


WINDOWS: dict[str, tuple[Spoil, list[str]]] = {
    "a stamp without an attempt": (
        redis("RPUSH", "window", "*", arguments=(stamp(1_001_000, 1, 0),)),
        ["pool starts_count"],
    ),
    "a stamp that is gone": (redis("LPOP", "window", "a"), ["tenant:a spend_sum"]),
    "a place that is stamped before its start": (
        redis("RPUSH", "window", "*", arguments=(stamp(1_001_000, 1, 100),)),
        ["pool starts_count", "pool spend_sum"],
    ),
    "a stamp that a kind has passed and still counts": (number("tenant", "a", lead=-1), ["tenant:a spend_sum"]),
    "an attempt that says it took no place": (
        number("task", "a", "t00003", windows=0),
        ["tenant:a spend_sum", "pool starts_count", "pool spend_sum"],
    ),
}


@pytest.mark.parametrize("case", WINDOWS)
async def test_a_window_that_does_not_add_up_is_found(rich: World, case: str) -> None:
    spoil, subjects = WINDOWS[case]
    await spoil(rich)
    assert [each.subject for each in await found(rich, Rule.COUNTER)] == subjects


STRUCTURE: dict[str, tuple[Spoil, str]] = {
    "an attempt of a period to come": (number("task", "a", "t00002", period=9), "task:a:t00002"),
    "an attempt of no period": (number("task", "a", "t00002", period=0), "task:a:t00002"),
    "stamps that are out of order": (redis("LPUSH", "window", "a", arguments=(stamp(1_000_001, 0, 0),)), "window:a"),
    "a stamp of a time to come": (redis("RPUSH", "window", "a", arguments=(stamp(9_000_000, 0, 0),)), "window:a"),
    "a kind that has passed more stamps than there are": (number("tenant", "c", lead=2), "tenant:c lead"),
}


@pytest.mark.parametrize("case", STRUCTURE)
async def test_a_place_or_a_period_without_an_attempt_is_found(rich: World, case: str) -> None:
    spoil, subject = STRUCTURE[case]
    await spoil(rich)
    assert subject in {each.subject for each in await found(rich, Rule.STRUCTURE)}


CALENDAR: dict[str, tuple[Spoil, str]] = {
    "a window will never wake its tenant": (redis("ZREM", "timers", arguments=("window:c",)), "parked c"),
    "a window wakes its tenant late": (redis("ZADD", "timers", arguments=(1_006_001, "window:c")), "parked c"),
    "a budget will never wake its tenant": (redis("ZREM", "timers", arguments=("budget:b",)), "parked b"),
    "a budget wakes its tenant late": (redis("ZADD", "timers", arguments=(2_000_001, "budget:b")), "parked b"),
    "a tenant waits for a window with room": (number("tenant", "c", starts_limit=2), "parked c"),
    "a tenant waits for spend that fits": (number("tenant", "a", spend_limit=500), "parked a"),
    "a tenant waits for a budget with room": (number("tenant", "b", budget=200), "parked b"),
    "a tenant waits for a budget that was added to": (number("tenant", "b", top_up=100), "parked b"),
    "a tenant waits for a budget that rejects": (number("tenant", "b", budget_rejects=1), "parked b"),
    "a tenant waits without end for a task above its budget": (number("tenant", "b", budget=50), "parked b"),
}


@pytest.mark.parametrize("case", CALENDAR)
async def test_a_tenant_that_waits_wrongly_is_found(rich: World, case: str) -> None:
    spoil, subject = CALENDAR[case]
    await spoil(rich)
    assert [each.subject for each in await found(rich, Rule.CALENDAR)] == [subject]


async def test_a_tenant_with_the_wrong_park_reason_is_found(rich: World) -> None:
    """Parked by `slots` it would have no timer, and nothing would ever release it."""
    await poke(rich.store, "tenant", "c", place="slots")
    await command(rich.store, "HSET", rich.store.keys.key("parked"), "c", "slots")
    (hit,) = await found(rich, Rule.CALENDAR)
    assert (hit.subject, hit.found, hit.expected) == ("parked c", "parked by slots", "by starts")


async def test_a_tenant_whose_timer_is_due_may_still_be_parked(rich: World) -> None:
    await poke(rich.store, "pool", now=1_006_000)
    assert await found(rich, Rule.CALENDAR) == []


OWNERSHIP: dict[str, tuple[Spoil, str]] = {
    "a window of no tenant": (redis("RPUSH", "window", "gone", arguments=(stamp(1, 1, 1),)), "window:gone"),
    "a timer of no tenant's window": (redis("ZADD", "timers", arguments=(9, "window:gone")), "timers window:gone"),
    "a timer of no tenant's budget": (redis("ZADD", "timers", arguments=(9, "budget:gone")), "timers budget:gone"),
    "a top-up for ever": (redis("SET", "top_up", "a", "k", arguments=("5",)), "top_up:a:k"),
    "a window that will vanish": (redis("PEXPIRE", "window", "a", arguments=(99_999,)), "window:a"),
}


@pytest.mark.parametrize("case", OWNERSHIP)
async def test_a_key_that_no_tenant_owns_is_found(rich: World, case: str) -> None:
    spoil, subject = OWNERSHIP[case]
    await spoil(rich)
    subjects = {each.subject.removeprefix(rich.store.keys.prefix) for each in await found(rich, Rule.OWNERSHIP)}
    assert subjects == {subject}
