"""Workers as a pool: who gets the next task, who is well, who is restarted. Loads neither Ray nor Redis.

Names are loaded on first use, so that a part of it, such as a worker's process, costs no more than it needs.
"""

from typing import TYPE_CHECKING

from fairlane.lazy import lazily

if TYPE_CHECKING:
    from fairlane.config.pool import (
        HealthConfig as HealthConfig,
        ManagerConfig as ManagerConfig,
        SupervisorConfig as SupervisorConfig,
    )
    from fairlane.pool.abstract_member import AbstractMember as AbstractMember
    from fairlane.pool.abstract_worker import AbstractWorker as AbstractWorker
    from fairlane.pool.criteria import Criteria as Criteria
    from fairlane.pool.errors import (
        POOL_ERROR_CODES as POOL_ERROR_CODES,
        CodeFacts as CodeFacts,
        PoolError as PoolError,
        PoolErrorCode as PoolErrorCode,
    )
    from fairlane.pool.events import PoolEvent as PoolEvent, PoolEventKind as PoolEventKind
    from fairlane.pool.health import HealthChecker as HealthChecker
    from fairlane.pool.health_report import CheckOutcome as CheckOutcome, HealthReport as HealthReport
    from fairlane.pool.manager import Manager as Manager
    from fairlane.pool.metrics import WorkerMetrics as WorkerMetrics
    from fairlane.pool.pool import Pool as Pool
    from fairlane.pool.status import (
        TASK_MOVES as TASK_MOVES,
        WORKER_MOVES as WORKER_MOVES,
        TaskStatus as TaskStatus,
        WorkerStatus as WorkerStatus,
    )
    from fairlane.pool.strategies.base import Candidate as Candidate, Strategy as Strategy
    from fairlane.pool.strategies.registry import (
        StrategyFactory as StrategyFactory,
        make_strategy as make_strategy,
        register_strategy as register_strategy,
        strategy_names as strategy_names,
    )
    from fairlane.pool.supervisor import (
        Supervisor as Supervisor,
        SupervisorEvent as SupervisorEvent,
        SupervisorEventKind as SupervisorEventKind,
    )
    from fairlane.pool.task import Task as Task, TaskMetadata as TaskMetadata, Work as Work
    from fairlane.pool.transports.local_worker import LocalWorker as LocalWorker
    from fairlane.pool.transports.subprocess_worker import SubprocessWorker as SubprocessWorker
    from fairlane.pool.worker import (
        Member as Member,
        Worker as Worker,
        WorkerHealth as WorkerHealth,
        WorkerInfo as WorkerInfo,
    )

_HOMES = {
    "fairlane.config.pool": (
        "HealthConfig",
        "ManagerConfig",
        "SupervisorConfig",
    ),
    "fairlane.pool.abstract_member": ("AbstractMember",),
    "fairlane.pool.abstract_worker": ("AbstractWorker",),
    "fairlane.pool.criteria": ("Criteria",),
    "fairlane.pool.errors": (
        "POOL_ERROR_CODES",
        "CodeFacts",
        "PoolError",
        "PoolErrorCode",
    ),
    "fairlane.pool.events": (
        "PoolEvent",
        "PoolEventKind",
    ),
    "fairlane.pool.health": ("HealthChecker",),
    "fairlane.pool.health_report": (
        "CheckOutcome",
        "HealthReport",
    ),
    "fairlane.pool.manager": ("Manager",),
    "fairlane.pool.metrics": ("WorkerMetrics",),
    "fairlane.pool.pool": ("Pool",),
    "fairlane.pool.status": (
        "TASK_MOVES",
        "WORKER_MOVES",
        "TaskStatus",
        "WorkerStatus",
    ),
    "fairlane.pool.strategies.base": (
        "Candidate",
        "Strategy",
    ),
    "fairlane.pool.strategies.registry": (
        "StrategyFactory",
        "make_strategy",
        "register_strategy",
        "strategy_names",
    ),
    "fairlane.pool.supervisor": (
        "Supervisor",
        "SupervisorEvent",
        "SupervisorEventKind",
    ),
    "fairlane.pool.task": (
        "Task",
        "TaskMetadata",
        "Work",
    ),
    "fairlane.pool.transports.local_worker": ("LocalWorker",),
    "fairlane.pool.transports.subprocess_worker": ("SubprocessWorker",),
    "fairlane.pool.worker": (
        "Member",
        "Worker",
        "WorkerHealth",
        "WorkerInfo",
    ),
}
__all__, __getattr__, __dir__ = lazily(__name__, _HOMES)
