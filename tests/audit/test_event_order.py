"""The replay of the events finds a gap, a forged move and a record that disagrees."""

import pytest

from fairlane.audit import Rule, Violation, check_invariants
from tests.support.store_packed import pack_rows, poke
from tests.support.store_raw import command
from tests.support.store_world import World


async def found(world: World) -> list[Violation]:
    return [each for each in await check_invariants(world.store) if each.rule is Rule.ORDER]


async def test_a_gap_between_events_is_found(busy: World) -> None:
    entries = await busy.events()
    await command(busy.store, "XDEL", busy.store.keys.events, entries[4].stream_id)
    hits = await found(busy)
    assert ("event 6", "follows event 4") in {(each.subject, each.found) for each in hits}


async def test_a_missing_last_event_is_found(busy: World) -> None:
    entries = await busy.events()
    await command(busy.store, "XDEL", busy.store.keys.events, entries[-1].stream_id)
    hits = await found(busy)
    assert {each.subject for each in hits} == {"events", "task:b:u1", "task:b:u2"}


async def test_a_record_that_disagrees_with_its_last_event_is_found(busy: World) -> None:
    await poke(busy.store, "task", "a", "t00000", state="failed")
    (hit,) = await found(busy)
    assert (hit.rule, hit.subject, hit.expected.split(",")[0]) == (Rule.ORDER, "task:a:t00000", "completed")


FORGED: dict[str, tuple[tuple[str | float, ...], str]] = {
    "an ended task is enqueued": (
        ("enqueued", "a", "t00000", 99, 100, 100, "w1", 0.0, 0),
        "from completed to enqueued",
    ),
    "a task starts that nobody placed": (("active", "b", "u1", 99), "from pending to active"),
    "an active task is enqueued again": (
        ("enqueued", "a", "t00003", 99, 100, 100, "w1", 0.0, 0),
        "from active to enqueued",
    ),
    "an old fence": (("enqueued", "b", "u1", 1, 70, 70, "w1", 0.0, 0), "fence 1"),
    "a start with another fence": (("active", "a", "t00004", 77), "fence 77"),
    "an unstarted attempt completes": (
        ("completed", "a", "t00004", 5, 1, 0, 1000, "completed", 0),
        "completed after enqueued",
    ),
    "an unstarted attempt is throttled": (
        ("throttled", "a", "t00004", 5, 0, 0, 1000, "pending", 0),
        "throttled after enqueued",
    ),
    "an attempt ends that is not under way": (
        ("failed", "b", "u1", 3, 0, 0, 1000, "pending", 0),
        "failed of attempt 3",
    ),
    "a running task ends without its fence": (
        ("cancelled", "a", "t00003", 0, 0, 0, 1000, "cancelled", 0),
        "cancelled without a fence",
    ),
    "a task is accepted twice": (("pending", "b", "u1", 70, 100), "accepted while pending"),
    "a running task is ready": (("ready", "a", "t00003"), "ready while active"),
    "a task nobody submitted runs": (("active", "b", "ghost", 9), "active of a task that was never accepted"),
    "a task nobody submitted ends": (
        ("expired", "b", "ghost", 0, 0, 0, 1000, "expired", 0),
        "expired of a task that was never accepted",
    ),
}


@pytest.mark.parametrize("case", FORGED)
async def test_a_transition_outside_the_tables_is_found(busy: World, case: str) -> None:
    row, finding = FORGED[case]
    pool = await busy.pool_view()
    fields = ("n", pool.events + 1, "at", busy.now, "by", "forged", "rows", pack_rows(row))
    await command(busy.store, "XADD", busy.store.keys.events, "*", *fields)
    await poke(busy.store, "pool", events=pool.events + 1)
    hits = {each.found for each in await found(busy)}
    assert finding in hits


@pytest.mark.parametrize(
    ("fields", "finding"),
    [
        (("rows", b"\xc1"), "byte 0 is 193, which is no kind of a row"),
        (("rows", pack_rows(("active", "b", "u1"))), "a row of kind active breaks off after 6 bytes"),
        (("rows", pack_rows(("active", "b", "u1", 0.5))), "after the kind must come: tenant, task, fence"),
        ((), "needs the fields n, at, by and rows"),
    ],
)
async def test_an_entry_that_no_script_could_write_is_found(
    busy: World, fields: tuple[str | bytes, ...], finding: str
) -> None:
    pool = await busy.pool_view()
    entry = ("n", pool.events + 1, "at", busy.now, "by", "forged", *fields)
    await command(busy.store, "XADD", busy.store.keys.events, "*", *entry)
    (hit,) = await found(busy)
    assert (hit.subject, hit.expected) == ("events", "entries that this version writes")
    assert finding in hit.found


async def test_time_that_runs_back_is_found(busy: World) -> None:
    pool = await busy.pool_view()
    fields = ("n", pool.events + 1, "at", busy.now - 1, "by", "forged", "rows", pack_rows(("resumed",)))
    await command(busy.store, "XADD", busy.store.keys.events, "*", *fields)
    await poke(busy.store, "pool", events=pool.events + 1)
    (hit,) = await found(busy)
    assert hit.expected == f"not before {busy.now} ms"


async def test_a_trimmed_stream_is_sound_for_the_events_that_are_left(busy: World) -> None:
    entries = await busy.events()
    await command(busy.store, "XTRIM", busy.store.keys.events, "MINID", entries[5].stream_id)
    assert await check_invariants(busy.store) == []
