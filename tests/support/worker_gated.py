"""A transport whose starts, stops and work the test holds up and releases."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.members.member import WorkerHealth, WorkerInfo
from fairlane.workers.members.status import WorkerStatus
from fairlane.workers.transports.abstract_worker import AbstractWorker
from tests.support.worker_telemetry import Recording

S = WorkerStatus
SILENT = logging.Logger("silent", logging.CRITICAL)


class Gated(AbstractWorker):
    """A worker whose transport takes as long as the test sets, and records whether it is alive."""

    def __init__(self, recording: Recording | None = None, logger: logging.Logger | None = None) -> None:
        info = WorkerInfo.of(id="w", kind="gated", capacity=2)
        super().__init__(info, telemetry=recording.telemetry if recording else None, logger=logger)
        self.start_takes_s = 1.0
        self.stop_takes_s = 1.0
        self.start_error: BaseException | None = None
        self.stop_error: BaseException | None = None
        self.alive = False
        self.acting = False
        self.seen: list[WorkerStatus] = []
        self.watch(lambda member: self.seen.append(member.status))

    async def _start(self) -> None:
        assert not self.alive
        self.alive = await self._act(self.start_takes_s, self.start_error)

    async def _stop(self) -> None:
        await self._act(self.stop_takes_s, self.stop_error)
        self.alive = False

    async def _act(self, seconds: float, error: BaseException | None) -> bool:
        assert not self.acting, "the transport starts or stops twice at once"
        self.acting = True
        try:
            await asyncio.sleep(seconds)
            if error is not None:
                raise error
        finally:
            self.acting = False
        return True

    async def _check(self) -> WorkerHealth:
        return WorkerHealth(healthy=True)

    async def _execute(self, task: Any, value: Any) -> Any:
        assert self.alive
        return await task.execute(value)

    @property
    def path(self) -> list[WorkerStatus]:
        """The worker's statuses so far, without repetitions."""
        return [now for before, now in zip([S.CREATED, *self.seen], self.seen, strict=False) if before is not now]


def begun(call: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    return asyncio.create_task(call)


def insist_for(seconds: float) -> Callable[[object], Coroutine[Any, Any, None]]:
    """Return work that ignores cancellation for this time, then fails."""

    async def insist(_: object) -> None:
        gate = asyncio.Event()
        asyncio.get_running_loop().call_later(seconds, gate.set)
        while not gate.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await gate.wait()
        raise ValueError("too late for anybody")

    return insist


async def code_of(call: "asyncio.Task[Any]") -> WorkerErrorCode:
    with pytest.raises(WorkerError) as error:
        await call
    return WorkerErrorCode(error.value.code)
