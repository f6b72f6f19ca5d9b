"""What can go wrong in a pool: one class, told apart by stable codes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from fairlane.errors import FairlaneError


class PoolErrorCode(StrEnum):
    """The stable names."""

    NO_WORKERS_AVAILABLE = "no_workers_available"
    WORKER_NOT_FOUND = "worker_not_found"
    WORKER_ALREADY_EXISTS = "worker_already_exists"
    WORKER_NOT_READY = "worker_not_ready"
    WORKER_AT_CAPACITY = "worker_at_capacity"
    WORKER_START_FAILED = "worker_start_failed"
    WORKER_STOP_FAILED = "worker_stop_failed"
    WORKER_LOST = "worker_lost"
    TASK_FAILED = "task_failed"
    TASK_TIMEOUT = "task_timeout"
    TASK_CANCELLED = "task_cancelled"
    RETRIES_EXHAUSTED = "retries_exhausted"
    QUEUE_FULL = "queue_full"
    ILLEGAL_TRANSITION = "illegal_transition"
    INVALID_CONFIGURATION = "invalid_configuration"


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """What a code means, and whether the same task may succeed on another worker."""

    meaning: str
    retryable: bool = False


POOL_ERROR_CODES: Final[Mapping[PoolErrorCode, CodeFacts]] = MappingProxyType(
    {
        PoolErrorCode.NO_WORKERS_AVAILABLE: CodeFacts("no worker is ready, and none is on its way"),
        PoolErrorCode.WORKER_NOT_FOUND: CodeFacts("the pool has no worker of this id"),
        PoolErrorCode.WORKER_ALREADY_EXISTS: CodeFacts("the pool has a worker of this id"),
        PoolErrorCode.WORKER_NOT_READY: CodeFacts("the worker's status lets it take no task", retryable=True),
        PoolErrorCode.WORKER_AT_CAPACITY: CodeFacts("all slots of the worker are in use", retryable=True),
        PoolErrorCode.WORKER_START_FAILED: CodeFacts("the worker did not start"),
        PoolErrorCode.WORKER_STOP_FAILED: CodeFacts("the worker did not stop cleanly"),
        PoolErrorCode.WORKER_LOST: CodeFacts("the worker ended while it executed the task", retryable=True),
        PoolErrorCode.TASK_FAILED: CodeFacts("the task raised; retried only for the classes the manager is given"),
        PoolErrorCode.TASK_TIMEOUT: CodeFacts("the task's time was up"),
        PoolErrorCode.TASK_CANCELLED: CodeFacts("the task was cancelled by its worker, not by its caller"),
        PoolErrorCode.RETRIES_EXHAUSTED: CodeFacts("the last allowed attempt failed, too"),
        PoolErrorCode.QUEUE_FULL: CodeFacts("as many tasks as allowed already wait for a slot"),
        PoolErrorCode.ILLEGAL_TRANSITION: CodeFacts("a status cannot follow the one before"),
        PoolErrorCode.INVALID_CONFIGURATION: CodeFacts("a setting or an argument cannot be used"),
    }
)


class PoolError(FairlaneError):
    """An error of the pool. ``context`` holds the fields named in the message; the cause is chained."""

    def __init__(self, code: PoolErrorCode, message: str, **context: object) -> None:
        super().__init__(message, **context)
        self.code = code

    @property
    def retryable(self) -> bool:
        """Whether the same task may succeed on another worker."""
        return POOL_ERROR_CODES[PoolErrorCode(self.code)].retryable

    @property
    def cause(self) -> BaseException | None:
        """What it was raised from."""
        return self.__cause__

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the code; the cause stays behind."""
        return (_rebuild, (self.code, self.message, self.context))


def shown(thing: object, show: Callable[[Any], str] = str) -> str:
    """Return an error, or anything else that is not our own, as text; its class's name if that is none, or raises."""
    try:
        return show(thing) or type(thing).__name__
    except Exception:
        return type(thing).__name__


def invalid(name: str, value: object, accepted: str) -> PoolError:
    """Return the error about an argument that cannot be used."""
    text = f"{name} = {shown(value, ascii)[:60]}: must be {accepted}"
    return PoolError(PoolErrorCode.INVALID_CONFIGURATION, text)


def _rebuild(code: PoolErrorCode, message: str, context: dict[str, object]) -> PoolError:
    return PoolError(code, message, **context)
