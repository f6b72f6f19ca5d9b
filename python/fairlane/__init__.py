"""Fairlane: fair, budget-aware dispatch for LLM work.

Names are loaded on first use, so that ``import fairlane`` costs neither Ray nor Redis.
"""

from typing import TYPE_CHECKING

from fairlane.lazy import lazily

if TYPE_CHECKING:
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

_HOMES = {
    "fairlane.config": (
        "BudgetConfig",
        "ClientConfig",
        "ControllerConfig",
        "DispatcherConfig",
        "EstimateConfig",
        "PoolConfig",
        "RayConfig",
        "SchedulerConfig",
        "ServerConfig",
        "TenantConfig",
        "WindowConfig",
        "WorkerConfig",
        "WorkerHealthConfig",
        "WorkerSupervisorConfig",
        "load_config",
    ),
    "fairlane.domain.policy": ("BudgetPolicy", "QueuePolicy", "ThrottleScope"),
    "fairlane.domain.task": ("OnUnknown", "TaskRef", "TaskState", "TaskView"),
    "fairlane.errors": (
        "AdmissionClosed",
        "ConfigError",
        "CostAboveCeiling",
        "FairlaneError",
        "IdempotencyConflict",
        "InvalidTask",
        "ProviderError",
        "ProviderFailed",
        "ProviderRefused",
        "QueueFull",
        "Rejected",
        "ResultTimeout",
        "RuntimeStartError",
        "StoreError",
        "StoreUnavailable",
        "StoreUnsuitable",
        "TaskCancelled",
        "TaskDead",
        "TaskExpired",
        "TaskFailed",
        "TaskLost",
        "TaskRejected",
        "Throttled",
        "UnknownTenant",
    ),
    "fairlane.lifecycle.client": ("Client",),
    "fairlane.lifecycle.connect": ("connect",),
    "fairlane.lifecycle.estimate": ("ChatEstimator", "Estimator"),
    "fairlane.lifecycle.handle": ("TaskHandle",),
    "fairlane.lifecycle.operator": ("Operator",),
    "fairlane.lifecycle.sizing": ("Coverage",),
    "fairlane.lifecycle.submission": ("TaskSpec",),
    "fairlane.providers.base": ("Call", "Provider", "Reply"),
    "fairlane.providers.retry_after": ("retry_after_ms",),
    "fairlane.runtime.operator": ("SchedulerOperator",),
    "fairlane.runtime.platform": ("Platform",),
    "fairlane.runtime.ray_worker": ("RayWorker",),
    "fairlane.runtime.scheduler": ("Scheduler",),
    "fairlane.runtime.sync": ("SyncClient", "SyncOperator", "SyncScheduler", "SyncTaskHandle"),
    "fairlane.store.messages": ("CancelStatus", "Ledger"),
}
__all__, __getattr__, __dir__ = lazily(__name__, _HOMES)
