"""The error of the worker layer: one class with stable codes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from fairlane.errors import FairlaneError


class WorkerErrorCode(StrEnum):
    """The stable codes."""

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
class CodeMeaning:
    """The meaning of a code, and whether the same task may succeed on another worker."""

    meaning: str
    retryable: bool = False


WORKER_ERROR_CODES: Final[Mapping[WorkerErrorCode, CodeMeaning]] = MappingProxyType(
    {
        WorkerErrorCode.NO_WORKERS_AVAILABLE: CodeMeaning("no worker is ready, and none will become ready"),
        WorkerErrorCode.WORKER_NOT_FOUND: CodeMeaning("the group has no worker with this id"),
        WorkerErrorCode.WORKER_ALREADY_EXISTS: CodeMeaning("the group already has a worker with this id"),
        WorkerErrorCode.WORKER_NOT_READY: CodeMeaning("the worker's status does not allow tasks", retryable=True),
        WorkerErrorCode.WORKER_AT_CAPACITY: CodeMeaning("all slots of the worker are in use", retryable=True),
        WorkerErrorCode.WORKER_START_FAILED: CodeMeaning("the worker did not start"),
        WorkerErrorCode.WORKER_STOP_FAILED: CodeMeaning("the worker did not stop cleanly"),
        WorkerErrorCode.WORKER_LOST: CodeMeaning("the worker ended while it executed the task", retryable=True),
        WorkerErrorCode.TASK_FAILED: CodeMeaning("the task raised; retried only for the classes in `retry_on`"),
        WorkerErrorCode.TASK_TIMEOUT: CodeMeaning("the task or an attempt took longer than its timeout"),
        WorkerErrorCode.TASK_CANCELLED: CodeMeaning("the task was cancelled by its worker, not by its caller"),
        WorkerErrorCode.RETRIES_EXHAUSTED: CodeMeaning("the last allowed attempt failed"),
        WorkerErrorCode.QUEUE_FULL: CodeMeaning("`queue_limit` tasks already wait for a slot"),
        WorkerErrorCode.ILLEGAL_TRANSITION: CodeMeaning("the status does not allow this"),
        WorkerErrorCode.INVALID_CONFIGURATION: CodeMeaning("a setting or an argument cannot be used"),
    }
)


class WorkerError(FairlaneError):
    """An error of the worker layer. ``context`` holds the fields named in the message; the cause is chained."""

    def __init__(self, code: WorkerErrorCode, message: str, **context: object) -> None:
        super().__init__(message, **context)
        self.code = code

    @property
    def retryable(self) -> bool:
        """Whether the same task may succeed on another worker."""
        return WORKER_ERROR_CODES[WorkerErrorCode(self.code)].retryable

    @property
    def cause(self) -> BaseException | None:
        """The exception it was raised from."""
        return self.__cause__

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the code, without the cause."""
        return (_rebuild, (self.code, self.message, self.context))


def shown(thing: object, show: Callable[[Any], str] = str) -> str:
    """Return foreign data, such as an exception, as text; its class name if the text is empty or cannot be made."""
    try:
        return show(thing) or type(thing).__name__
    except Exception:
        return type(thing).__name__


def invalid(name: str, value: object, accepted: str) -> WorkerError:
    """Return the error for an argument that cannot be used."""
    text = f"{name} = {shown(value, ascii)[:60]}: must be {accepted}"
    return WorkerError(WorkerErrorCode.INVALID_CONFIGURATION, text)


def _rebuild(code: WorkerErrorCode, message: str, context: dict[str, object]) -> WorkerError:
    return WorkerError(code, message, **context)
