"""Every error Fairlane raises, as one tree with stable codes.

    FairlaneError
    ├── ConfigError            a setting, an argument or a file cannot be used
    ├── Rejected               refused before admission; nothing was written
    │   ├── InvalidTask        a task's id, cost, priority, deadline or payload
    │   ├── UnknownTenant
    │   ├── QueueFull
    │   ├── CostAboveCeiling   no ceiling could ever admit this cost
    │   ├── IdempotencyConflict
    │   └── AdmissionClosed
    ├── TaskLost               the task was accepted, and ended without a result
    │   ├── TaskFailed  TaskExpired  TaskCancelled  TaskRejected  TaskDead
    ├── LeaseLost              this worker's writes are refused from now on
    ├── ResultTimeout          the wait ended before the task did
    ├── StoreError
    │   ├── StoreUnavailable   says whether the command may have run
    │   ├── StoreUnsuitable    the server answers, but Fairlane cannot use it
    │   └── MalformedEvent     the event stream has an entry that this version does not write
    ├── EmbeddedServerError
    ├── RuntimeStartError      Ray did not start, or an actor did not become ready
    ├── WorkerError            raised by fairlane.workers; its code says what happened
    └── ProviderError          raised by providers, read by workers
        ├── Throttled          retry later; costs the task nothing
        ├── ProviderFailed     this attempt failed; another may succeed
        └── ProviderRefused    no attempt at this task can succeed

Normal negative answers (an unknown task, a cancel that came too late) are values, not errors.
"""

from fairlane.redaction import without_secrets


class FairlaneError(Exception):
    """The base of the tree. ``code`` is stable; ``context`` holds the fields that the message names.

    Passwords in URLs, and keys, are replaced by ``***``, wherever the message quotes a value that has them.
    """

    code: str = "fairlane_error"

    def __init__(self, message: str, **context: object) -> None:
        message = without_secrets(message) if isinstance(message, str) else message
        super().__init__(message)
        self.message = message
        self.context = {name: _shown(value) for name, value in context.items()}

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the message and the context: these errors cross Ray."""
        return (_rebuild, (type(self), self.message, self.context))


def _shown(value: object) -> object:
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, dict):
        return {_shown(name): _shown(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_shown(each) for each in value]
    return tuple(_shown(each) for each in value) if type(value) is tuple else value


def _rebuild(kind: type[FairlaneError], message: str, context: dict[str, object]) -> FairlaneError:
    return kind(message, **context)


class ConfigError(FairlaneError):
    """A setting cannot be used. The message names the field, its value, and what would be accepted."""

    code = "invalid_configuration"


class Rejected(FairlaneError):
    """The task was refused before admission; nothing was written."""

    code = "rejected"


class InvalidTask(Rejected):
    """A field of the submission is invalid."""

    code = "invalid_task"


class UnknownTenant(Rejected):
    """The tenant is not registered. An operator registers tenants; submitting a task never does."""

    code = "unknown_tenant"


class QueueFull(Rejected):
    """The tenant's queue is full: its ``queue_limit`` of tasks wait already."""

    code = "queue_full"


class CostAboveCeiling(Rejected):
    """The cost exceeds a ceiling, so the task could never start."""

    code = "cost_above_ceiling"


class IdempotencyConflict(Rejected):
    """The tenant has already used this task id for a different task."""

    code = "idempotency_conflict"


class AdmissionClosed(Rejected):
    """The pool accepts no new tasks."""

    code = "admission_closed"


class TaskLost(FairlaneError):
    """The task ended without a result. ``error_code`` says why; '' if nothing more is known."""

    code = "task_lost"

    @property
    def error_code(self) -> str:
        """The code that is stored with the task's end, such as ``budget_exhausted``."""
        return str(self.context.get("error_code", ""))


class TaskFailed(TaskLost):
    """The last allowed attempt failed."""

    code = "task_failed"


class TaskExpired(TaskLost):
    """The task's deadline passed before it completed."""

    code = "task_expired"


class TaskCancelled(TaskLost):
    """The task was cancelled."""

    code = "task_cancelled"


class TaskRejected(TaskLost):
    """The tenant's budget is used up (``budget_exhausted``), or a changed limit no longer admits the task's cost."""

    code = "task_rejected"


class TaskDead(TaskLost):
    """The task was given up: it lost too many workers, or its outcome is unknown and it must not be repeated."""

    code = "task_dead"


class LeaseLost(FairlaneError):
    """The store considers this worker incarnation lost, and refuses all its writes."""

    code = "lease_lost"


class ResultTimeout(FairlaneError, TimeoutError):
    """The result did not arrive within the caller's timeout. The task is not affected."""

    code = "result_timeout"


class StoreError(FairlaneError):
    """The Redis server, or the connection to it, failed."""

    code = "store_error"


class StoreUnavailable(StoreError):
    """The server could not be reached, or did not answer. ``outcome_known`` False: the command may have run."""

    code = "store_unavailable"

    def __init__(self, message: str, *, outcome_known: bool = True, **context: object) -> None:
        super().__init__(message, outcome_known=outcome_known, **context)
        self.outcome_known = outcome_known


class StoreUnsuitable(StoreError):
    """The server answers, but cannot be used: wrong kind, too old, evicts keys, read-only, or no permission."""

    code = "store_unsuitable"


class MalformedEvent(StoreError):
    """An entry of the event stream that this version of Fairlane does not write: the rest is not read."""

    code = "malformed_event"


class EmbeddedServerError(FairlaneError):
    """The private server could not be found, started or stopped."""

    code = "embedded_server"


class RuntimeStartError(FairlaneError):
    """Ray or one of the actors did not become ready in time."""

    code = "runtime_start"


class ProviderError(FairlaneError):
    """A provider raises this to say how a call ended."""

    code = "provider_error"


class Throttled(ProviderError):
    """The provider is rate limited, and asked for a pause of ``retry_after_ms``, or else of ``retry_after``.

    ``retry_after`` is the value of a Retry-After header, or a number of seconds. Without a usable value, the pool's
    ``default_pause_ms`` applies.
    """

    code = "throttled"

    def __init__(
        self,
        message: str = "throttled",
        *,
        retry_after_ms: float | None = None,
        retry_after: str | float | None = None,
        **context: object,
    ) -> None:
        if not isinstance(message, str):
            raise TypeError(f"message = {message!r}: must be text; pass seconds as retry_after=...")
        super().__init__(message, retry_after_ms=retry_after_ms, retry_after=retry_after, **context)
        self.retry_after_ms = retry_after_ms
        self.retry_after = retry_after


class ProviderFailed(ProviderError):
    """The call failed; another attempt may succeed."""

    code = "provider_failed"


class ProviderRefused(ProviderError):
    """The call can never succeed. The worker does not retry it."""

    code = "provider_refused"
