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
from fairlane.config.roles import (
    ClientConfig as ClientConfig,
    ControllerConfig as ControllerConfig,
    DispatcherConfig as DispatcherConfig,
    WorkerConfig as WorkerConfig,
)
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
from fairlane.errors import ConfigError

REDIS_URL_VARIABLE = "FAIRLANE_REDIS_URL"


class TenantConfig(Section):
    """Who owns tasks: its weight and its own limits. None means unlimited."""

    weight: Annotated[int, Field(strict=True, ge=1, le=MAX_WEIGHT)] = 1
    """Its share of the pool, in proportion to the weights of the others that have tasks."""
    slots: Slots | None = None
    """Tasks in flight at once."""
    cost_ceiling_units: Units | None = None
    """Sum of estimates in flight at once."""
    queue_limit: Annotated[int, Field(strict=True, ge=1, le=10**9)] = 1_000_000
    """Tasks waiting (not in flight); more are refused with ``queue_full``."""
    budget: BudgetConfig | None = None
    """How much may be spent in a period, or once."""
    starts: WindowConfig | None = None
    """How many tasks may start."""
    spend: WindowConfig | None = None
    """How much estimated cost may start."""


class PoolConfig(Section):
    """The shared scarce thing: one provider key, or one model."""

    policy: QueuePolicy = QueuePolicy.WDRR
    """Who is served next: tenants by weight and token cost, strictly the lowest priority number, or strictly the
    order of arrival. Cannot change while tasks are waiting or running."""
    slots: Slots = 64
    """The hard limit of tasks in flight; the controller moves the capacity below it."""
    cost_ceiling_units: Units | None = None
    """Sum of estimates in flight at once, of all tenants; None: no limit."""
    quantum_units: Annotated[int, Field(strict=True, ge=1, le=MAX_QUANTUM)] = 1000
    """Credit per round and unit of weight; about a typical cost or less. A task may cost at most 2^20 times this.
    Cannot change while tasks are waiting or running."""
    max_attempts: Annotated[int, Field(strict=True, ge=1, le=1000)] = 3
    """Provider failures after which a task has failed."""
    max_recoveries: Annotated[int, Field(strict=True, ge=0, le=1000)] = 3
    """Lost workers a task survives; one more and it is dead. After the last it runs alone on its worker."""
    lease_ms: Annotated[int, Field(strict=True, ge=100, le=3_600_000)] = 10_000
    """How long a worker that is not heard of keeps its tasks; at least twice ``workers.heartbeat_ms``."""
    throttle_scope: ThrottleScope = ThrottleScope.POOL
    """What a provider's throttle holds back: everything, or only the task that met it."""
    default_pause_ms: Milliseconds = 1_000
    """How long a throttle without a usable Retry-After holds back, and the longest that one of 0 does."""
    resume_ramp_ms: MillisecondsOrZero = 1_000
    """After a throttle's pause the slots come back evenly over so long, at most as long as the pause or the ramp that
    it interrupts; 0: at once."""
    retention_ms: Milliseconds = 300_000
    """How long an ended task's record and result stay on the server."""
    idempotency_ms: MillisecondsOrZero = 3_600_000
    """How long after that a caller's own task id stays known, so that submitting it again makes no new task."""
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


class ServerConfig(Section):
    """Which Redis: a URL, or a private embedded server when there is none."""

    url: Annotated[str | None, Field(repr=False)] = None
    """``redis://host:port``, ``rediss://host:port`` or ``unix:///path``. `load_config` takes $FAIRLANE_REDIS_URL, where
    a password belongs, if the file names none. None: a private server is embedded."""
    binary: Path | None = None
    """The embedded server's binary; None finds one."""
    data_dir: Path | None = None
    """Kept data lives here; None throws the data away."""
    call_timeout_ms: Milliseconds = 5_000
    """How long one call may take, connecting and repeats included; then the server counts as unavailable."""
    connections: Annotated[int, Field(strict=True, ge=2, le=1024)] = 8
    """Connections for calls, in each process; whoever waits for a bell has one of its own."""


class RayConfig(Section):
    """Which Ray: a cluster by address, or a private local one."""

    address: str | None = None
    """``host:port`` of a cluster, or ``auto``; None starts a private Ray on this machine."""
    num_cpus: Annotated[int, Field(strict=True, ge=1, le=1024)] = 2
    """What a private Ray offers its actors. Fairlane's own actors take none of it."""
    dashboard: bool = False
    """Whether a private Ray serves its dashboard, which needs ``ray[default]``."""
    start_timeout_ms: Milliseconds = 60_000
    """How long Ray, and then each actor, may take to become ready."""
    namespace: str | None = None
    """Named actors live here; None makes it from the scheduler's name."""


class SchedulerConfig(Section):
    """Everything one scheduler needs. One scheduler is one pool."""

    name: str = "default"
    """Schedulers of one name on one server share one pool. As the id of a tenant, it begins with a letter or digit and
    has only letters, digits and . _ @ -, at most 128."""
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
