"""Measures what the server does for one task, by load and command."""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tools.instructions.load import Calls, Load, RoundTrips
from tools.instructions.server import CountingServer, counting_server

Costs = dict[str, dict[str, dict[str, float]]]
"""Per task: by load, by command, by what is counted (``instructions``, ``calls``, ``bytes``)."""

LOADS: Final = (lambda: Load(3), lambda: Load(100), lambda: Load(10_000), lambda: RoundTrips(100))
# By batch. The server steps the collection of Lua's garbage once in 50 calls: 13 cycles of 64 make 52; 50 of 1, 150.
_CYCLES: Final = {64: 13, 1: 50}
_TURNS: Final = range(2)
_WARM_UP: Final = {64: 6, 1: 20}


async def measure(load: Load, *, instructions: bool) -> Costs:
    """Return the costs of a task under this load, in each of its batches; instructions only if asked for."""
    with tempfile.TemporaryDirectory(prefix="fairlane-counts-") as name:
        directory = Path(name)
        with counting_server(directory, callgrind=False) as server:
            async with load.on(server.url):
                await load.prepare()
                await _warm_up(load, server)
                costs = await _count(load, server, server.begin_calls, server.end_calls)
            server.save()
        if instructions:
            # Under callgrind the preparation would take minutes, so this server starts with the other one's data.
            with counting_server(directory, callgrind=True) as server:
                async with load.on(server.url):
                    await _warm_up(load, server)
                    server.instrument()
                    more = await _count(load, server, server.begin_instructions, server.end_instructions)
            for point, commands in more.items():
                for command, counts in commands.items():
                    costs[point][command] |= counts
    return costs


async def _warm_up(load: Load, server: CountingServer) -> None:
    for batch in load.batches:
        for _ in range(_WARM_UP[batch]):
            await load.cycle(batch)
            server.delete(load.bells)


async def _count(
    load: Load, server: CountingServer, begin: Callable[[], None], end: Callable[[], Counter[str]]
) -> Costs:
    begin()
    own = end()
    costs: Costs = {}
    for batch in load.batches:
        cycles = _CYCLES[batch]
        sums: defaultdict[str, Counter[str]] = defaultdict(Counter)

        async def counted(command: str, calls: Calls, sums: defaultdict[str, Counter[str]] = sums) -> Any:  # noqa: ANN401 - each command has its own reply
            begin()
            answer = await calls()
            found = end()
            found.subtract(own)
            sums[command].update(found)
            return answer

        for _ in _TURNS:
            await load.cycle(batch)  # ends what the cycles of another batch have left running
            server.delete(load.bells)
        for _ in range(cycles):
            await load.cycle(batch, counted)
            server.delete(load.bells)
        costs[load.name(batch)] = {
            command: {kind: count / (batch * cycles) for kind, count in counts.items()}
            for command, counts in sums.items()
        }
    return costs
