from fairlane.config import (
    BudgetConfig as BudgetConfig,
    ClientConfig as ClientConfig,
    ControllerConfig as ControllerConfig,
    DispatcherConfig as DispatcherConfig,
    EstimateConfig as EstimateConfig,
    PoolConfig as PoolConfig,
    RayConfig as RayConfig,
    SchedulerConfig as SchedulerConfig,
    ServerConfig as ServerConfig,
    TenantConfig as TenantConfig,
    WindowConfig as WindowConfig,
    WorkerConfig as WorkerConfig,
    WorkerHealthConfig as WorkerHealthConfig,
    WorkerSupervisorConfig as WorkerSupervisorConfig,
    load_config as load_config,
)
from fairlane.domain.policy import (
    BudgetPolicy as BudgetPolicy,
    QueuePolicy as QueuePolicy,
    ThrottleScope as ThrottleScope,
)
from fairlane.domain.task import (
    OnUnknown as OnUnknown,
    TaskRef as TaskRef,
    TaskState as TaskState,
    TaskView as TaskView,
)
from fairlane.errors import (
    AdmissionClosed as AdmissionClosed,
    ConfigError as ConfigError,
    CostAboveCeiling as CostAboveCeiling,
    FairlaneError as FairlaneError,
    IdempotencyConflict as IdempotencyConflict,
    InvalidTask as InvalidTask,
    ProviderError as ProviderError,
    ProviderFailed as ProviderFailed,
    ProviderRefused as ProviderRefused,
    QueueFull as QueueFull,
    Rejected as Rejected,
    ResultTimeout as ResultTimeout,
    RuntimeStartError as RuntimeStartError,
    StoreError as StoreError,
    StoreUnavailable as StoreUnavailable,
    StoreUnsuitable as StoreUnsuitable,
    TaskCancelled as TaskCancelled,
    TaskDead as TaskDead,
    TaskExpired as TaskExpired,
    TaskFailed as TaskFailed,
    TaskLost as TaskLost,
    TaskRejected as TaskRejected,
    Throttled as Throttled,
    UnknownTenant as UnknownTenant,
)
from fairlane.lifecycle.client import Client as Client
from fairlane.lifecycle.connect import connect as connect
from fairlane.lifecycle.estimate import ChatEstimator as ChatEstimator, Estimator as Estimator
from fairlane.lifecycle.handle import TaskHandle as TaskHandle
from fairlane.lifecycle.operator import Operator as Operator
from fairlane.lifecycle.sizing import Coverage as Coverage
from fairlane.lifecycle.submission import TaskSpec as TaskSpec
from fairlane.providers.base import Call as Call, Provider as Provider, Reply as Reply
from fairlane.providers.retry_after import retry_after_ms as retry_after_ms
from fairlane.runtime.operator import SchedulerOperator as SchedulerOperator
from fairlane.runtime.platform import Platform as Platform
from fairlane.runtime.ray_worker import RayWorker as RayWorker
from fairlane.runtime.scheduler import Scheduler as Scheduler
from fairlane.runtime.sync import (
    SyncClient as SyncClient,
    SyncOperator as SyncOperator,
    SyncScheduler as SyncScheduler,
    SyncTaskHandle as SyncTaskHandle,
)
from fairlane.store.messages import CancelStatus as CancelStatus, Ledger as Ledger
