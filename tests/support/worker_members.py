"""Members for tests of health checkers and supervisors: they start and answer as scripted, and execute nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from fairlane.telemetry import Telemetry
from fairlane.workers.members.abstract_member import AbstractMember
from fairlane.workers.members.member import WorkerHealth, WorkerInfo
from tests.support.virtual_time import now_s

Step = Exception | Callable[[], Awaitable[object]] | None
"""An exception to raise, or a function to call. None: do nothing, and be healthy."""


class ScriptedMember(AbstractMember):
    """Takes one step of a script for each start and each check, and repeats the last step of a script at its end."""

    def __init__(
        self,
        worker_id: str = "w",
        *,
        starts: Iterable[Step] = (None,),
        checks: Iterable[Step] = (None,),
        telemetry: Telemetry | None = None,
    ) -> None:
        super().__init__(WorkerInfo.of(id=worker_id, kind="scripted", capacity=2), telemetry=telemetry)
        self.starts = list(starts)
        self.checks = list(checks)
        self.started_s: list[float] = []
        self.checked_s: list[float] = []
        """The times at which each start and each check began."""

    async def _start(self) -> None:
        self.started_s.append(now_s())
        await _take(self.starts)

    async def _stop(self) -> None:
        pass

    async def _check(self) -> WorkerHealth:
        self.checked_s.append(now_s())
        answer = await _take(self.checks)
        return WorkerHealth(healthy=True) if answer is None else answer  # type: ignore[return-value]


async def _take(script: list[Step]) -> object:
    step = script.pop(0) if len(script) > 1 else script[0]
    if isinstance(step, Exception):
        raise step
    return None if step is None else await step()


def answer(*, healthy: bool, detail: str = "") -> Step:
    """Answer a check with this health."""

    async def say() -> WorkerHealth:
        return WorkerHealth(healthy=healthy, detail=detail)

    return say


def take(seconds: float) -> Step:
    """Take this time, then be healthy."""
    return lambda: asyncio.sleep(seconds)


async def hang() -> None:
    """Never end, unless cancelled."""
    await asyncio.Event().wait()


def ignore_cancellation(until: asyncio.Event) -> Step:
    """Ignore cancellation until the event is set."""

    async def insist() -> None:
        while not until.is_set():
            try:
                await until.wait()
            except asyncio.CancelledError:
                continue

    return insist
