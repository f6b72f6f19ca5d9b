"""Processes that call the store of one scheduler at the same moment."""

import asyncio
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from types import TracebackType
from typing import Any, Self

from fairlane.store.connection import Endpoint
from fairlane.store.store import Store
from tests.support.store_world import START_MS

PROCESSES = 8
LIMIT_S = 60.0
_barriers: list[Barrier] = []

Call = tuple[str, tuple[Any, ...]]
"""A method of `Store` and its arguments."""


class Racers:
    """Eight processes, each with a fresh interpreter, reused from race to race."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(
            PROCESSES, mp_context=context, initializer=_remember, initargs=(context.Barrier(PROCESSES),)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    async def race(self, endpoint: Endpoint, name: str, calls: Sequence[Call]) -> list[Any]:
        """Distribute the calls, connect, wait at a barrier, send everything at once; return all answers."""
        loop = asyncio.get_running_loop()
        shares = [calls[number::PROCESSES] for number in range(PROCESSES)]
        work = (loop.run_in_executor(self._pool, _run, endpoint, name, share) for share in shares)
        return [answer for answers in await asyncio.gather(*work) for answer in answers]


def _remember(barrier: Barrier) -> None:
    """Initialise a process. A barrier can be inherited, but not sent."""
    _barriers.append(barrier)


def _run(endpoint: Endpoint, name: str, calls: Sequence[Call]) -> list[Any]:
    return asyncio.run(_call(endpoint, name, calls))


async def _call(endpoint: Endpoint, name: str, calls: Sequence[Call]) -> list[Any]:
    # Eight interpreters may start slowly on a busy machine: a call may take as long as the barrier.
    patient = replace(endpoint, call_timeout_ms=int(1000 * LIMIT_S))
    async with Store(patient, name, virtual_now_ms=lambda: START_MS) as store:
        await store.snapshot()
        # This blocks the whole process, which has nothing else to do until the others are ready.
        _barriers[0].wait(LIMIT_S)
        return list(await asyncio.gather(*(getattr(store, method)(*arguments) for method, arguments in calls)))
