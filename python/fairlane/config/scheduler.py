"""The whole configuration of a scheduler, and the one function that reads files and the environment."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import field_validator, model_validator

from fairlane.config.platform import REDIS_URL_VARIABLE, RayConfig, ServerConfig
from fairlane.config.pool import PoolConfig
from fairlane.config.roles import ClientConfig, ControllerConfig, DispatcherConfig, WorkerConfig
from fairlane.config.section import Section, build
from fairlane.config.supervision import WorkerHealthConfig, WorkerSupervisorConfig
from fairlane.config.tenant import TenantConfig
from fairlane.domain.limits import MAX_TENANT_ID, id_problem
from fairlane.errors import ConfigError


class SchedulerConfig(Section):
    """Everything one scheduler needs. One scheduler is one pool."""

    name: str = "default"
    """Schedulers with the same name on the same server share one pool. A name begins with a letter or digit and has
    only letters, digits and . _ @ -, at most 128, like the id of a tenant."""
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
            raise ValueError(f"{ascii(value)[:60]} {problem}")
        return value

    @field_validator("tenants")
    @classmethod
    def _tenants_are_ids(cls, value: Mapping[str, TenantConfig]) -> Mapping[str, TenantConfig]:
        for tenant in value:
            problem = id_problem(tenant, longest=MAX_TENANT_ID)
            if problem is not None:
                raise ValueError(f"the id {ascii(tenant)[:60]} {problem}")
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
        if self.client.heartbeat_ms * 2 > self.pool.retention_ms:
            raise ValueError(
                f"client.heartbeat_ms = {self.client.heartbeat_ms}: "
                f"must be at most half of pool.retention_ms = {self.pool.retention_ms}, or results are lost"
            )
        return self


def load_config(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> SchedulerConfig:
    """Read a TOML file (optional) and the environment into one configuration.

    ``$FAIRLANE_REDIS_URL`` is the server's URL unless the file names one. A `SchedulerConfig` that is built in code
    does not read it.

    Raises:
        ConfigError: the file cannot be read or parsed, or a value cannot be used.

    """
    values: dict[str, Any] = {}
    if path is not None:
        file = Path(path)
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"cannot read config file {file}: {error.strerror}", path=str(file)) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"config file {file} is not valid TOML: {error}", path=str(file)) from None
    url = environment.get(REDIS_URL_VARIABLE)
    server = values.get("server", {})
    if url and isinstance(server, dict) and not server.get("url"):
        values["server"] = {**server, "url": url}
    return build(SchedulerConfig, values)
