"""A worker in a process of its own: what it executes can neither block nor crash this one.

The process imports from where this one does, so that work and inputs may be anything that pickles: functions at the
top of an importable module, and not of the program's main file.
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
    """See RemoteWorker. The process ends with this one, however that ends.

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
