"""A damaged record in the store: its caller gets a typed error, and every other caller its result."""

import asyncio
from collections.abc import Callable

import pytest

from fairlane.domain.task import TaskView
from fairlane.errors import TaskLost
from fairlane.providers.simulated import SimulatedProvider
from fairlane.store.messages import Collected
from fairlane.store.prelude import LARGEST_END
from tests.lifecycle.harness import Harness, until
from tests.support.store_raw import command


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: b"x",
        lambda record: record[:140],
        lambda record: record.replace(b"completed", b"abandoned"),
        lambda record: record[:136] + b"\xff" * 200,
        lambda record: record[:8] + b"\x00" * 6 + b"\xf0\x7f" + record[16:],
    ],
    ids=["no record", "broken off", "no such state", "too long texts", "infinite cost"],
)
async def test_a_damaged_record_costs_only_its_own_caller_the_result(
    pool: Harness, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    await pool.put()
    await pool.dispatcher()
    await pool.worker(SimulatedProvider())
    client = await pool.client(heartbeat_ms=20_000)  # no sweep helps
    damaged = asyncio.Event()
    collect = client._store.collect

    async def collect_then(client_id: str, cursor: str) -> Collected:
        await damaged.wait()
        return await collect(client_id, cursor)

    monkeypatch.setattr(client._store, "collect", collect_then)
    echoes = [str(number) * LARGEST_END for number in range(10)]  # so large that the client reads the records
    handles = [await client.submit("acme", {"echo": echo}, cost=1) for echo in echoes]

    async def all_ended() -> bool:
        views = await pool.store.get([handle.ref for handle in handles])
        return all(view is not None and view.state.ended for view in views)

    await until(all_ended)
    broken = handles[3].ref
    key = pool.store.keys.key("task", "acme", broken.id)
    await command(pool.store, "SET", key, damage(await command(pool.store, "GET", key)))
    damaged.set()
    outcomes = await client.wait_many(handles, 10)
    assert type(outcomes[3]) is TaskLost
    assert "damaged" in str(outcomes[3])
    assert [outcome for outcome in outcomes if outcome is not outcomes[3]] == [*echoes[:3], *echoes[4:]]
    later = await client.submit("acme", {"echo": "later"}, cost=1)
    assert await later.result(10) == "later"
    view, lost = await asyncio.gather(
        client.get("acme", later.ref.id), client.get("acme", broken.id), return_exceptions=True
    )
    assert type(lost) is TaskLost
    assert isinstance(view, TaskView)
