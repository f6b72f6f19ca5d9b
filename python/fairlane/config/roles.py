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
    """How many tasks one call places at most."""
    heartbeat_ms: Heartbeat = 1_000
    """The longest sleep, and so the longest delay if a bell is lost."""
    strategy: Annotated[str, Field(strict=True)] = StrategyName.LEAST_BUSY.value
    """Which worker gets the next task. A worker's weight is its number of slots. ``package.module:attribute`` names a
    factory of your own. A strategy that is registered by name in this process does not exist in the dispatcher's."""

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
    """Workers at the start. Each is a process."""
    slots: Slots = 64
    """How many tasks one worker holds at once."""
    batch: Batch = 64
    """How many tasks one call takes, or how many ends it reports, at most."""
    heartbeat_ms: Heartbeat = 1_000
    """How often a worker renews its lease, and its longest sleep; at most half of ``pool.lease_ms``."""
    grace_ms: MillisecondsOrZero = 10_000
    """How long running tasks may take to finish when a worker stops."""
    backoff_base_ms: Milliseconds = 200
    """The longest wait before the first retry of a failed attempt."""
    backoff_cap_ms: Milliseconds = 30_000
    """Each retry waits a random time up to min(cap, base * 2^failures): full jitter."""
    max_result_bytes: Bytes = 2**20
    """A task whose encoded result is larger fails (``result_too_large``)."""


class ControllerConfig(Section):
    """The role that adapts the capacity to provider throttles (AIMD): it halves it, then adds one slot at a time."""

    enabled: bool = True
    """False: the capacity does not change."""
    period_ms: Annotated[int, Field(strict=True, ge=10, le=3_600_000)] = 250
    """Between two ticks. Each may change the capacity by one step."""
    cooldown_ms: MillisecondsOrZero = 800
    """The shortest time between two changes."""
    clean_ticks: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 4
    """Ticks without a throttle before one slot comes back."""
    minimum_slots: Slots = 1
    """Throttles reduce the capacity no further than this; at most ``pool.slots``."""


class ClientConfig(Section):
    """The role that submits tasks and waits for results."""

    batch: Batch = 128
    """How many tasks one call submits, reads or cancels at most."""
    heartbeat_ms: Heartbeat = 1_000
    """The longest sleep, and how often the client reads its open tasks in case it missed that one ended."""
    max_payload_bytes: Bytes = 2**20
    """A task whose encoded payload is larger is refused (``invalid_task``)."""
    estimates: EstimateConfig | None = None
    """Estimate the cost of tasks that are submitted without one, as chats; None: every task must name its cost."""
