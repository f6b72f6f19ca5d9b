"""Commands as functions of the server, and as scripts where it has none."""

import re

import pytest
import redis

from fairlane.domain.attempt import Outcome
from fairlane.errors import StoreError, StoreUnsuitable
from fairlane.store import scripts
from fairlane.store.messages import SubmitStatus, Write
from tests.support.store_raw import command
from tests.support.store_world import World, settlement, task


@pytest.mark.parametrize("name", scripts.COMMANDS)
async def test_the_server_loads_every_command_as_a_function(world: World, name: str) -> None:
    """The store would use scripts instead, and nothing but the speed would show it."""
    loaded = await command(world.store, "FUNCTION", "LOAD", "REPLACE", scripts.library(name))
    assert loaded.decode() == scripts.function(name)


async def test_a_call_after_a_failed_one_sees_nothing_of_it(world: World) -> None:
    await world.ready()
    batch = [task("fine"), task("broken", cost="not a number")]  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        await world.store.submit(batch, "c")
    assert world.store.uses_functions
    (answer,) = await world.store.submit([task("next")], "c")
    assert answer.status is SubmitStatus.ACCEPTED
    assert (await world.pool_view()).live == 1
    assert await world.store.get([task("fine").ref]) == [None]


async def test_a_full_server_that_cannot_load_functions_runs_scripts(own: World, admin: redis.Redis) -> None:
    await own.ready()
    (started,) = await own.active(task("t"))
    admin.execute_command("FUNCTION", "FLUSH")
    admin.config_set("maxmemory", 1)
    assert await own.settle(started) is Write.DONE
    assert not own.store.uses_functions
    admin.config_set("maxmemory", 0)
    assert await own.store.heartbeat("w1")


async def test_a_user_who_may_not_call_functions_runs_scripts(own: World, admin: redis.Redis) -> None:
    admin.execute_command("ACL", "SETUSER", "default", "-fcall")
    await own.ready()
    assert not own.store.uses_functions
    await own.submit(task("t"))
    assert (await own.pool_view()).live == 1


async def test_a_user_who_may_not_use_the_keys_is_refused_with_the_key(own: World, admin: redis.Redis) -> None:
    await own.ready()
    admin.execute_command("ACL", "SETUSER", "default", "resetkeys", "~other:*")
    with pytest.raises(StoreUnsuitable, match=f"asked for: FCALL {re.escape(own.store.keys.pool)}; docs/operations.md"):
        await own.submit(task("t"))
    assert own.store.uses_functions


async def test_a_task_whose_record_is_gone_returns_to_its_queue_and_stops_no_other(world: World) -> None:
    await world.ready()
    first, second = await world.active(task("first"), task("second"))
    await command(world.store, "DEL", world.store.keys.key("task", "a", "first"))
    writes = await world.store.settle("w1", [settlement(each, Outcome.FAILED) for each in (first, second)])
    assert writes == [Write.DONE, Write.DONE]
    await world.dispatch()
    assert [(each.ref.id, each.payload) for each in await world.start()] == [("first", b""), ("second", second.payload)]


def test_two_files_cannot_share_a_variable_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = (("one", "local at, seen = 1\n"), ("main", "local seen = 2\nreturn seen\n"))
    monkeypatch.setattr(scripts, "_parts", lambda _: ("", parts))
    with pytest.raises(ValueError, match="main: two files have a function or variable of the name seen"):
        scripts.library.__wrapped__("ledger")
