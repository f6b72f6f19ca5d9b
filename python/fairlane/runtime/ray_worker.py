"""A worker for any group whose work runs in an actor, on a machine of the cluster that Ray chooses.

Loads Ray only when it starts, so that the platform can still decide how Ray starts.
"""

import logging
import sys
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from fairlane.clock import SYSTEM_CLOCK, Clock
from fairlane.errors import RuntimeStartError
from fairlane.telemetry import Telemetry
from fairlane.workers.members.member import WorkerInfo
from fairlane.workers.transports.remote_worker import Link, RemoteWorker
from fairlane.workers.validation import ValidatedModel

KIND: Final = "ray"
_Share = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class _Needs(ValidatedModel):
    """What Ray must keep for its actor."""

    num_cpus: _Share
    num_gpus: _Share
    resources: Mapping[str, _Share]
    start_timeout_s: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


class RayWorker(RemoteWorker):
    """See RemoteWorker. Needs Ray to be connected from its start to its stop: a `Platform` that is started.

    Work and input may be anything that Ray's cloudpickle takes, if the modules it refers to can be imported on the
    actor's machine. Ray keeps ``num_cpus``, ``num_gpus`` and ``resources`` for the actor; with the defaults it may
    run anywhere. If Ray has no room for it within ``start_timeout_s``, its start has failed. Ray does not restart an
    actor whose process has ended; the group's supervisor does.

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
        num_cpus: float = 0,
        num_gpus: float = 0,
        resources: Mapping[str, float] | None = None,
        start_timeout_s: float = 60.0,
        clock: Clock = SYSTEM_CLOCK,
        telemetry: Telemetry | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        info = WorkerInfo.of(
            id=worker_id, kind=KIND, capacity=capacity, weight=weight, tags=tags, metadata=metadata or {}
        )
        super().__init__(info, clock=clock, telemetry=telemetry, logger=logger)
        needs = _Needs.of(
            num_cpus=num_cpus, num_gpus=num_gpus, resources=resources or {}, start_timeout_s=start_timeout_s
        )
        self._options = {"num_cpus": num_cpus, "num_gpus": num_gpus, "resources": dict(needs.resources)}
        self._start_timeout_s = needs.start_timeout_s

    async def _connect(self) -> Link:
        ray = sys.modules.get("ray")
        if ray is None or not ray.is_initialized():
            raise RuntimeStartError("Ray is not connected; a RayWorker needs a started fairlane.Platform")
        from fairlane.runtime.ray_link import RayLink  # noqa: PLC0415 - loads Ray

        return await RayLink.begin(self.fail, self._options, self._start_timeout_s)

    def _pickled(self, work: Any, value: Any) -> bytes:  # noqa: ANN401 - anything
        from ray import cloudpickle  # noqa: PLC0415 - loads Ray

        return bytes(cloudpickle.dumps((work, value)))  # type: ignore[no-untyped-call]
