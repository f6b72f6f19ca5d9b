"""Configuration: one frozen model per component, and `load_config`, which reads files and the environment.

Units are in the names of the fields. Secrets, such as a password in the server's URL, come from the environment of the
machine that uses them.
"""

from fairlane.config.allowance import BudgetConfig as BudgetConfig, WindowConfig as WindowConfig
from fairlane.config.estimates import EstimateConfig as EstimateConfig
from fairlane.config.platform import (
    REDIS_URL_VARIABLE as REDIS_URL_VARIABLE,
    RayConfig as RayConfig,
    ServerConfig as ServerConfig,
)
from fairlane.config.pool import PoolConfig as PoolConfig
from fairlane.config.problems import config_error as config_error
from fairlane.config.roles import (
    ClientConfig as ClientConfig,
    ControllerConfig as ControllerConfig,
    DispatcherConfig as DispatcherConfig,
    WorkerConfig as WorkerConfig,
)
from fairlane.config.scheduler import SchedulerConfig as SchedulerConfig, load_config as load_config
from fairlane.config.section import Section as Section, build as build
from fairlane.config.supervision import (
    WorkerHealthConfig as WorkerHealthConfig,
    WorkerSupervisorConfig as WorkerSupervisorConfig,
)
from fairlane.config.tenant import TenantConfig as TenantConfig
