"""Fairlane: a scheduler in a process of its own, two workers of it, and a client that only submits.

python -m bench.peers.adapters.fairlane runs the scheduler until SIGTERM.
"""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Final, cast

import fairlane
from bench.peers.adapters.work import SOCKET, Call, perform
from fairlane.lifecycle.connect import operating
from fairlane.store.connection import Endpoint

TENANTS: Final = (1, 3, 100, 10_000)
_URL: Final = f"unix://{SOCKET}"
_COST: Final = 1_000
_PAUSE_MS: Final = 600_000
_WAIT_S: Final = 120.0
_LOOK_S: Final = 0.1


def _config() -> fairlane.SchedulerConfig:
    return fairlane.SchedulerConfig(
        name="peers",
        pool=fairlane.PoolConfig(slots=512, quantum_units=_COST),
        tenants={f"of-{count}-{number:05}": fairlane.TenantConfig() for count in TENANTS for number in range(count)},
        workers=fairlane.WorkerConfig(count=2, slots=256),
        controller=fairlane.ControllerConfig(enabled=False),
        server=fairlane.ServerConfig(url=_URL),
    )


class Provider:
    """Does the work."""

    async def call(self, call: fairlane.Call) -> fairlane.Reply:
        """See ``fairlane.Provider``."""
        return fairlane.Reply(result=perform(cast("Call", call.payload)), actual_units=call.cost)


class Client:
    """See ``driving.Client``. The scheduler runs already; it is paused until results are asked for."""

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect once the scheduler is there, and pause it."""
        config = fairlane.SchedulerConfig(name="peers", server=fairlane.ServerConfig(url=_URL))
        async with asyncio.timeout(_WAIT_S):
            while True:
                try:
                    self._client = await stack.enter_async_context(fairlane.connect(config))
                    break
                except fairlane.ConfigError:  # no scheduler of this name yet
                    await asyncio.sleep(_LOOK_S)
        self._operator = await stack.enter_async_context(operating(Endpoint(_URL), "peers"))
        self._paused = True
        await self._operator.pause(_PAUSE_MS)

    async def submit(self, calls: Sequence[Call]) -> list[fairlane.TaskHandle]:
        """Submit all together.

        Raises:
            ValueError: one is refused.
        """
        answers = await self._client.submit_many(fairlane.TaskSpec(call["tenant"], dict(call), _COST) for call in calls)
        handles = [answer for answer in answers if isinstance(answer, fairlane.TaskHandle)]
        if len(handles) != len(calls):
            raise ValueError(next(str(answer) for answer in answers if not isinstance(answer, fairlane.TaskHandle)))
        return handles

    async def results(self, handles: Sequence[fairlane.TaskHandle]) -> list[Any]:
        """Wait for all together."""
        if self._paused:
            await self._operator.resume()
            self._paused = False
        return await self._client.wait_many(handles, _WAIT_S)


async def _serve() -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with fairlane.Scheduler(_config(), provider="bench.peers.adapters.fairlane:Provider"):
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(_serve())
