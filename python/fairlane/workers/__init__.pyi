from fairlane.config.workers import (
    HealthConfig as HealthConfig,
    ManagerConfig as ManagerConfig,
    SupervisorConfig as SupervisorConfig,
)
from fairlane.workers.errors import (
    WORKER_ERROR_CODES as WORKER_ERROR_CODES,
    CodeMeaning as CodeMeaning,
    WorkerError as WorkerError,
    WorkerErrorCode as WorkerErrorCode,
)
from fairlane.workers.executor.manager import Manager as Manager
from fairlane.workers.executor.task import Task as Task, TaskMetadata as TaskMetadata, Work as Work
from fairlane.workers.executor.worker import Worker as Worker
from fairlane.workers.members.abstract_member import AbstractMember as AbstractMember
from fairlane.workers.members.criteria import Criteria as Criteria
from fairlane.workers.members.events import MemberEvent as MemberEvent, MemberEventKind as MemberEventKind
from fairlane.workers.members.group import WorkerGroup as WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker as HealthChecker
from fairlane.workers.members.health_report import CheckOutcome as CheckOutcome, HealthReport as HealthReport
from fairlane.workers.members.member import (
    Member as Member,
    WorkerHealth as WorkerHealth,
    WorkerInfo as WorkerInfo,
)
from fairlane.workers.members.metrics import WorkerMetrics as WorkerMetrics
from fairlane.workers.members.status import (
    TASK_MOVES as TASK_MOVES,
    WORKER_MOVES as WORKER_MOVES,
    TaskStatus as TaskStatus,
    WorkerStatus as WorkerStatus,
)
from fairlane.workers.members.supervisor import (
    Supervisor as Supervisor,
    SupervisorEvent as SupervisorEvent,
    SupervisorEventKind as SupervisorEventKind,
)
from fairlane.workers.strategies.base import Candidate as Candidate, Strategy as Strategy
from fairlane.workers.strategies.registry import (
    StrategyFactory as StrategyFactory,
    make_strategy as make_strategy,
    register_strategy as register_strategy,
    strategy_names as strategy_names,
)
from fairlane.workers.transports.abstract_worker import AbstractWorker as AbstractWorker
from fairlane.workers.transports.local_worker import LocalWorker as LocalWorker
from fairlane.workers.transports.subprocess_worker import SubprocessWorker as SubprocessWorker
