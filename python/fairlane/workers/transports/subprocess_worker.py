"""A worker with its own process: the work it executes can neither block nor crash this one.

The process has the same import path. Work and inputs must pickle: functions at the top level of an importable module,
not of the program's main file.
"""

import logging
from collections.abc import Collection, Mapping
from typing import Final

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.telemetry import Telemetry
from fairlane.workers.members.member import WorkerInfo
from fairlane.workers.transports.child_process import ChildProcess
from fairlane.workers.transports.remote_worker import Link, RemoteWorker

KIND: Final = "subprocess"


class SubprocessWorker(RemoteWorker):
    """See RemoteWorker. The process ends with this one, even if this one is killed.

    Raises:
        WorkerError: invalid_configuration.
    """

    def __init__(
        self,
        worker_id: str,
        *,
        capacity: int = 1,
        weight: int = 1,
        tags: Collection[str] = (),
        metadata: Mapping[str, str] | None = None,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        info = WorkerInfo.of(
            id=worker_id, kind=KIND, capacity=capacity, weight=weight, tags=tags, metadata=metadata or {}
        )
        super().__init__(info, clock=clock, telemetry=telemetry, logger=logger)

    async def _connect(self) -> Link:
        return await ChildProcess.begin(self.fail)
