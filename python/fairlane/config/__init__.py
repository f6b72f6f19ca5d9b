"""Configuration: one frozen model per component, and the one function that reads files and the environment.

Units are in the names. Secrets (a server's password inside its URL) come from the environment of the machine
that uses them.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, ValidationError, field_validator, model_validator

from fairlane.config.allowance import BudgetConfig as BudgetConfig, WindowConfig as WindowConfig
from fairlane.config.estimates import EstimateConfig as EstimateConfig
from fairlane.config.section import (
    Milliseconds,
    MillisecondsOrZero,
    Section as Section,
    Slots,
    Units,
    config_error as config_error,
)
from fairlane.config.supervision import (
    WorkerHealthConfig as WorkerHealthConfig,
    WorkerSupervisorConfig as WorkerSupervisorConfig,
)
from fairlane.domain.limits import (
    MAX_COST,
    MAX_QUANTUM,
    MAX_ROUNDS_PER_TASK,
    MAX_TENANT_ID,
    MAX_WEIGHT,
    id_problem,
)
from fairlane.domain.policy import QueuePolicy, ThrottleScope
from fairlane.domain.strategy_name import StrategyName, strategy_name_problem
from fairlane.errors import ConfigError

REDIS_URL_VARIABLE = "FAIRLANE_REDIS_URL"


class TenantConfig(Section):
    """Who owns tasks: its weight and its own limits. None means unlimited."""

    weight: Annotated[int, Field(strict=True, ge=1, le=MAX_WEIGHT)] = 1
    slots: Slots | None = None
    """Tasks in flight at once."""
    cost_ceiling_units: Units | None = None
    """Sum of estimates in flight at once."""
    queue_limit: Annotated[int, Field(strict=True, ge=1, le=10**9)] = 1_000_000
    """Tasks waiting (not in flight); more are refused with ``queue_full``."""
    budget: BudgetConfig | None = None
    starts: WindowConfig | None = None
    """How many tasks may start."""
    spend: WindowConfig | None = None
    """How much estimated cost may start."""


class PoolConfig(Section):
    """The shared scarce thing: one provider key, or one model."""

    policy: QueuePolicy = QueuePolicy.WDRR
    slots: Slots = 64
    """The hard limit of tasks in flight; the controller moves the capacity below it."""
    cost_ceiling_units: Units | None = None
    quantum_units: Annotated[int, Field(strict=True, ge=1, le=MAX_QUANTUM)] = 1000
    """Credit per round and unit of weight; about a typical cost or less."""
    max_attempts: Annotated[int, Field(strict=True, ge=1, le=1000)] = 3
    """Provider failures after which a task has failed."""
    max_recoveries: Annotated[int, Field(strict=True, ge=0, le=1000)] = 3
    """Lost workers a task survives; one more and it is dead."""
    lease_ms: Annotated[int, Field(strict=True, ge=100, le=3_600_000)] = 10_000
    throttle_scope: ThrottleScope = ThrottleScope.POOL
    default_pause_ms: Milliseconds = 1_000
    """How long a throttle without a usable Retry-After holds back."""
    resume_ramp_ms: MillisecondsOrZero = 1_000
    """After a throttle's pause the slots come back evenly over so long, at most as long as the pause; 0: at once."""
    retention_ms: Milliseconds = 300_000
    """How long an ended task's record and result stay."""
    idempotency_ms: MillisecondsOrZero = 3_600_000
    """How long after that a caller's own task id stays known."""
    event_limit: Annotated[int, Field(strict=True, ge=0, le=10**8)] = 100_000
    """Entries kept in the event stream, about; 0 switches events off."""
    starts: WindowConfig | None = None
    """How many tasks may start, of all tenants."""
    spend: WindowConfig | None = None
    """How much estimated cost may start, of all tenants."""

    @property
    def max_cost_units(self) -> int:
        """The largest cost that keeps rounds exact."""
        return min(MAX_COST, self.quantum_units * MAX_ROUNDS_PER_TASK)


class DispatcherConfig(Section):
    """The role that hands tasks to workers."""

    batch: Annotated[int, Field(strict=True, ge=1, le=256)] = 64
    heartbeat_ms: Annotated[int, Field(strict=True, ge=10, le=60_000)] = 1_000
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
    slots: Slots = 64
    """Tasks one worker holds at once."""
    batch: Annotated[int, Field(strict=True, ge=1, le=256)] = 64
    heartbeat_ms: Annotated[int, Field(strict=True, ge=10, le=60_000)] = 1_000
    grace_ms: MillisecondsOrZero = 10_000
    """How long a stopping worker may finish what it runs."""
    backoff_base_ms: Milliseconds = 200
    backoff_cap_ms: Milliseconds = 30_000
    """A failed attempt waits a random time up to min(cap, base * 2^failures): full jitter."""
    max_result_bytes: Annotated[int, Field(strict=True, ge=1, le=64 * 2**20)] = 2**20


class ControllerConfig(Section):
    """AIMD on provider throttles: halve, then recover by one."""

    enabled: bool = True
    period_ms: Annotated[int, Field(strict=True, ge=10, le=3_600_000)] = 250
    cooldown_ms: MillisecondsOrZero = 800
    """At least this long between two changes."""
    clean_ticks: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 4
    """Ticks without a throttle before one slot comes back."""
    minimum_slots: Slots = 1


class ClientConfig(Section):
    """The role that submits and waits."""

    batch: Annotated[int, Field(strict=True, ge=1, le=256)] = 128
    heartbeat_ms: Annotated[int, Field(strict=True, ge=10, le=60_000)] = 1_000
    max_payload_bytes: Annotated[int, Field(strict=True, ge=1, le=64 * 2**20)] = 2**20
    estimates: EstimateConfig | None = None
    """Tasks may be submitted without a cost, and are estimated as chats; None: every task names its cost."""


class ServerConfig(Section):
    """Which Redis: a URL, or a private embedded server when there is none."""

    url: Annotated[str | None, Field(repr=False)] = None
    binary: Path | None = None
    """The embedded server's binary; None finds one."""
    data_dir: Path | None = None
    """Kept data lives here; None throws the data away."""
    call_timeout_ms: Milliseconds = 5_000
    connections: Annotated[int, Field(strict=True, ge=2, le=1024)] = 8


class RayConfig(Section):
    """Which Ray: a cluster by address, or a private local one."""

    address: str | None = None
    num_cpus: Annotated[int, Field(strict=True, ge=1, le=1024)] = 2
    dashboard: bool = False
    start_timeout_ms: Milliseconds = 60_000
    namespace: str | None = None
    """Named actors live here; None makes it from the scheduler's name."""


class SchedulerConfig(Section):
    """Everything one scheduler needs. One scheduler is one pool."""

    name: str = "default"
    pool: PoolConfig = PoolConfig()
    tenants: Mapping[str, TenantConfig] = {}
    dispatcher: DispatcherConfig = DispatcherConfig()
    workers: WorkerConfig = WorkerConfig()
    health: WorkerHealthConfig = WorkerHealthConfig()
    supervisor: WorkerSupervisorConfig = WorkerSupervisorConfig()
    controller: ControllerConfig = ControllerConfig()
    client: ClientConfig = ClientConfig()
    server: ServerConfig = ServerConfig()
    ray: RayConfig = RayConfig()

    @field_validator("name")
    @classmethod
    def _name_is_an_id(cls, value: str) -> str:
        problem = id_problem(value, longest=MAX_TENANT_ID)
        if problem is not None:
            raise ValueError(problem)
        return value

    @field_validator("tenants")
    @classmethod
    def _tenants_are_ids(cls, value: Mapping[str, TenantConfig]) -> Mapping[str, TenantConfig]:
        for tenant in value:
            problem = id_problem(tenant, longest=MAX_TENANT_ID)
            if problem is not None:
                raise ValueError(f"tenant {ascii(tenant)[:60]} {problem}")
        return value

    @model_validator(mode="after")
    def _capacity_fits(self) -> Self:
        if self.controller.minimum_slots > self.pool.slots:
            raise ValueError(
                f"controller.minimum_slots = {self.controller.minimum_slots}: "
                f"must not exceed pool.slots = {self.pool.slots}"
            )
        if self.workers.heartbeat_ms * 2 > self.pool.lease_ms:
            raise ValueError(
                f"workers.heartbeat_ms = {self.workers.heartbeat_ms}: "
                f"must be at most half of pool.lease_ms = {self.pool.lease_ms}"
            )
        return self


SectionT = TypeVar("SectionT", bound=Section)


def build(kind: type[SectionT], values: Mapping[str, Any]) -> SectionT:
    """Validate ``values`` as a section.

    Raises:
        ConfigError: one line naming each bad field, its value and what would be accepted.

    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise config_error(error) from None


def load_config(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> SchedulerConfig:
    """Read a TOML file (optional) and the environment into one configuration.

    ``$FAIRLANE_REDIS_URL`` is the server's URL unless the file names one. A `SchedulerConfig` that is built in code
    does not look there.

    Raises:
        ConfigError: the file cannot be read or parsed, or a value is not accepted.

    """
    values: dict[str, Any] = {}
    if path is not None:
        file = Path(path)
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"config file {file}: {error.strerror}", path=str(file)) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"config file {file} is not valid TOML: {error}", path=str(file)) from None
    url = environment.get(REDIS_URL_VARIABLE)
    server = values.get("server", {})
    if url and isinstance(server, dict) and not server.get("url"):
        values["server"] = {**server, "url": url}
    return build(SchedulerConfig, values)
