"""For window tests: a world with one window, and its stored stamps and sums."""

from fairlane.config import WindowConfig
from fairlane.store.codec import unpack_row
from fairlane.store.keys import STAMP
from fairlane.store.messages import StartedTask
from tests.support.store_packed import read_numbers
from tests.support.store_raw import command
from tests.support.store_world import World

INTERVAL = 1000
LONG_LEASE = 10**6

PLACES = ["tenant starts", "tenant spend", "pool starts", "pool spend"]


def window(limit: int, interval_ms: int = INTERVAL) -> WindowConfig:
    return WindowConfig(limit=limit, interval_ms=interval_ms)


async def limited(world: World, where: str, tasks_per_interval: int, cost: int = 100) -> None:
    """One window that lets ``limit`` tasks of this cost start in any interval."""
    owner, kind = where.split()
    limits = {kind: window(tasks_per_interval * (cost if kind == "spend" else 1))}
    await world.ready(
        tenant=limits if owner == "tenant" else {}, lease_ms=LONG_LEASE, **(limits if owner == "pool" else {})
    )


async def run(world: World) -> list[StartedTask]:
    """Dispatch and start every task that may start; return the new ones."""
    known = {each.ref for each in await world.start()}
    await world.dispatch()
    return [each for each in await world.start() if each.ref not in known]


async def stamps(world: World, owner: str = "a") -> list[tuple[int, int, int]]:
    """Time, starts and spend of each stamp that is stored; owner ``*`` is the pool."""
    packed = await command(world.store, "LRANGE", world.store.keys.key("window", owner), 0, -1)
    return [tuple(unpack_row(stamp, len(STAMP))) for stamp in packed]


async def held(world: World, owner: str = "a") -> tuple[int, int]:
    """The amounts that the owner's hash counts in its windows."""
    state = await read_numbers(world.store, *(("pool",) if owner == "*" else ("tenant", owner)))
    return int(state["starts_count"]), int(state["spend_sum"])
