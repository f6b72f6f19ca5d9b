"""The client's process of a Python queue: it takes orders as JSON lines and answers each with one JSON line.

python -m bench.peers.adapters.driving <module>: the module has a class ``Client`` as `Client` below.

    {"do": "submit", "tasks": 5, "tenants": 3}     submits tasks and does not wait; answers {}
    {"do": "collect"}                              waits for the results of what was submitted; answers {}
    {"do": "load", "tasks": 5, "tenants": 3}       submits tasks and waits; answers {"seconds": 0.5}
    {"do": "trips", "count": 5, "limit_s": 9.0}    one task after the other; answers {"ms": [1.5, ...]}

Tasks are numbered from 0 and dealt to the tenants one by one. A wrong result answers {"error": "..."} and ends it.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib import import_module
from typing import Any, Protocol

from bench.peers.adapters.work import Call, right

_now_s = time.perf_counter  # noqa: TID251 - this process knows no clock of Fairlane


class Client(Protocol):
    """A queue's client. Its methods may block, since nothing else runs meanwhile."""

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect, on the loop that makes all other calls; what the stack gets is closed at the end."""
        ...

    async def submit(self, calls: Sequence[Call]) -> Sequence[Any]:
        """Submit tasks in the fastest way there is; return a handle for each."""
        ...

    async def results(self, handles: Sequence[Any]) -> Sequence[object]:
        """Wait for all results and return them in the order of the handles."""
        ...


class Driver:
    """Carries out orders, and checks every result."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._numbered = 0
        self._waiting: list[tuple[Sequence[Call], Sequence[Any]]] = []

    async def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out one order and return the answer.

        Raises:
            ValueError: a result is wrong, or there is no such order.
        """
        match order:
            case {"do": "submit", "tasks": int(tasks), "tenants": int(tenants)}:
                submitted = self._calls(tasks, tenants)
                self._waiting.append((submitted, await self._client.submit(submitted)))
                return {}
            case {"do": "collect"}:
                for calls, handles in self._waiting:
                    _check(calls, await self._client.results(handles))
                self._waiting.clear()
                return {}
            case {"do": "load", "tasks": int(tasks), "tenants": int(tenants)}:
                return {"seconds": await self._run(self._calls(tasks, tenants))}
            case {"do": "trips", "count": int(count), "limit_s": limit_s}:
                return {"ms": await self._trips(count, limit_s)}
        raise ValueError(f"no such order: {order}")

    def _calls(self, tasks: int, tenants: int) -> list[Call]:
        numbers = range(self._numbered, self._numbered + tasks)
        self._numbered += tasks
        return [{"tenant": f"of-{tenants}-{number % tenants:05}", "n": number} for number in numbers]

    async def _run(self, calls: list[Call]) -> float:
        began_s = _now_s()
        found = await self._client.results(await self._client.submit(calls))
        seconds = _now_s() - began_s
        _check(calls, found)
        return seconds

    async def _trips(self, count: int, limit_s: float) -> list[float]:
        until_s = _now_s() + limit_s
        samples: list[float] = []
        while len(samples) < count and (_now_s() < until_s or not samples):
            samples.append(1000 * await self._run(self._calls(1, 1)))
        return samples


def _check(calls: Sequence[Call], found: Sequence[object]) -> None:
    if len(found) != len(calls):
        raise ValueError(f"{len(found)} results of {len(calls)} tasks")
    for call, result in zip(calls, found, strict=True):
        if result != right(call):
            raise ValueError(f"task {call['n']} has the result {result!r}, not {right(call)!r}")


async def _serve(client: Client) -> None:
    """Answer orders until standard input ends."""
    async with AsyncExitStack() as stack:
        await client.open(stack)
        driver = Driver(client)
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                answer = await driver.obey(json.loads(line))
            except Exception as error:
                _answer({"error": f"{type(error).__name__}: {error}"})
                raise
            _answer(answer)


def _answer(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main(module: str) -> None:
    """Drive the client of a module, on uvloop if its environment has it."""
    client: Client = import_module(module).Client()
    try:
        import uvloop  # noqa: PLC0415 - only some environments have it
    except ImportError:
        asyncio.run(_serve(client))
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
            loop.run(_serve(client))


if __name__ == "__main__":
    main(sys.argv[1])
