"""How the four roles work: dispatcher, worker, controller, client."""

from typing import Annotated

from pydantic import Field, field_validator

from fairlane.config.estimates import EstimateConfig
from fairlane.config.section import Milliseconds, MillisecondsOrZero, Section, Slots
from fairlane.domain.strategy_name import StrategyName, strategy_name_problem

Batch = Annotated[int, Field(strict=True, ge=1, le=256)]
Heartbeat = Annotated[int, Field(strict=True, ge=10, le=60_000)]
Bytes = Annotated[int, Field(strict=True, ge=1, le=64 * 2**20)]


class DispatcherConfig(Section):
    """The role that hands tasks to workers."""

    batch: Batch = 64
    """Tasks placed by one call at most."""
    heartbeat_ms: Heartbeat = 1_000
    """The longest sleep: what a lost bell costs at most."""
    strategy: Annotated[str, Field(strict=True)] = StrategyName.LEAST_BUSY.value
    """Which worker gets the next task; a worker's weight is its number of slots. Besides the names there are,
    ``package.module:attribute`` names a factory: a name that is registered in this process means nothing to the
    dispatcher's."""

    @field_validator("strategy")
    @classmethod
    def _strategy_is_known(cls, value: str) -> str:
        problem = strategy_name_problem(value)
        if problem is not None:
            raise ValueError(f"{ascii(value)[:60]} {problem}")
        return value


class WorkerConfig(Section):
    """The role that calls the provider."""

    count: Annotated[int, Field(strict=True, ge=1, le=1024)] = 2
    """Workers at the start; each is a process."""
    slots: Slots = 64
    """Tasks one worker holds at once."""
    batch: Batch = 64
    """Tasks taken, and ends told, by one call at most."""
    heartbeat_ms: Heartbeat = 1_000
    """How often a worker renews its lease, and the longest sleep; at most half of ``pool.lease_ms``."""
    grace_ms: MillisecondsOrZero = 10_000
    """How long a stopping worker may finish what it runs."""
    backoff_base_ms: Milliseconds = 200
    """The first wait after a failed attempt, at most."""
    backoff_cap_ms: Milliseconds = 30_000
    """A failed attempt waits a random time up to min(cap, base * 2^failures): full jitter."""
    max_result_bytes: Bytes = 2**20
    """A result that is larger once it is encoded fails its task (``result_too_large``)."""


class ControllerConfig(Section):
    """AIMD on provider throttles: halve, then recover by one."""

    enabled: bool = True
    """False: the capacity stays where it is."""
    period_ms: Annotated[int, Field(strict=True, ge=10, le=3_600_000)] = 250
    """Between two ticks; each may change the capacity by one step."""
    cooldown_ms: MillisecondsOrZero = 800
    """At least this long between two changes."""
    clean_ticks: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 4
    """Ticks without a throttle before one slot comes back."""
    minimum_slots: Slots = 1
    """Throttles take the capacity no lower; at most ``pool.slots``."""


class ClientConfig(Section):
    """The role that submits and waits."""

    batch: Batch = 128
    """Tasks submitted, read or cancelled by one call at most."""
    heartbeat_ms: Heartbeat = 1_000
    """The longest sleep, and how often open tasks are asked for in case their end was not told."""
    max_payload_bytes: Bytes = 2**20
    """A task whose payload is larger once it is encoded is refused (``invalid_task``)."""
    estimates: EstimateConfig | None = None
    """Tasks may be submitted without a cost, and are estimated as chats; None: every task names its cost."""
