"""Every error Fairlane raises, as one tree with stable codes.

    FairlaneError
    ├── ConfigError            a setting, an argument or a file that cannot be used
    ├── Rejected               refused before admission; nothing was written
    │   ├── InvalidTask        a task's id, cost, priority, deadline or payload
    │   ├── UnknownTenant
    │   ├── QueueFull
    │   ├── CostAboveCeiling   no ceiling could ever admit this cost
    │   ├── IdempotencyConflict
    │   └── AdmissionClosed
    ├── TaskLost               accepted, but without a result
    │   ├── TaskFailed  TaskExpired  TaskCancelled  TaskRejected  TaskDead
    ├── LeaseLost              this worker's writes are refused from now on
    ├── ResultTimeout          the wait ended, the task did not
    ├── StoreError
    │   ├── StoreUnavailable   says whether the command may have run
    │   ├── StoreUnsuitable    reachable, but not a server Fairlane can use
    │   └── MalformedEvent     an entry of the event stream that this version does not write
    ├── EmbeddedServerError
    ├── RuntimeStartError      Ray did not start, or an actor did not become ready
    ├── WorkerError              of fairlane.workers, told apart by its codes
    └── ProviderError          raised by providers, read by workers
        ├── Throttled          come back later; costs the task nothing
        ├── ProviderFailed     this attempt failed; another may succeed
        └── ProviderRefused    this task can never succeed

A normal negative answer (an unknown task, a cancel that came too late) is a value, not an error.
"""


class FairlaneError(Exception):
    """Base of the tree. ``code`` is stable; ``context`` holds the fields named in the message."""

    code: str = "fairlane_error"

    def __init__(self, message: str, **context: object) -> None:
        super().__init__(message)
        self.message = message
        self.context = context

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by message and context: these errors cross Ray."""
        return (_rebuild, (type(self), self.message, self.context))


def _rebuild(kind: type[FairlaneError], message: str, context: dict[str, object]) -> FairlaneError:
    return kind(message, **context)


class ConfigError(FairlaneError):
    """A setting cannot be used. The message names the field, the value and what would be accepted."""

    code = "invalid_configuration"


class Rejected(FairlaneError):
    """The task was refused before admission; nothing was written."""

    code = "rejected"


class InvalidTask(Rejected):
    """The submission itself is malformed."""

    code = "invalid_task"


class UnknownTenant(Rejected):
    """No such tenant: tenants are registered by an operator, never created by a submit."""

    code = "unknown_tenant"


class QueueFull(Rejected):
    """The tenant already has as many waiting tasks as its queue bound allows."""

    code = "queue_full"


class CostAboveCeiling(Rejected):
    """The cost exceeds a ceiling that would have to admit it, so it could never start."""

    code = "cost_above_ceiling"


class IdempotencyConflict(Rejected):
    """This tenant already used the task id for a different task."""

    code = "idempotency_conflict"


class AdmissionClosed(Rejected):
    """The pool takes no new tasks."""

    code = "admission_closed"


class TaskLost(FairlaneError):
    """The task ended without a result. ``error_code`` says why in one word, '' if nothing more is known."""

    code = "task_lost"

    @property
    def error_code(self) -> str:
        """The code that is stored with the task's end, such as ``budget_exhausted``."""
        return str(self.context.get("error_code", ""))


class TaskFailed(TaskLost):
    """The last allowed attempt failed."""

    code = "task_failed"


class TaskExpired(TaskLost):
    """The deadline passed first."""

    code = "task_expired"


class TaskCancelled(TaskLost):
    """Somebody cancelled it."""

    code = "task_cancelled"


class TaskRejected(TaskLost):
    """Its tenant's budget is used up (``budget_exhausted``), or a changed limit no longer admits its cost."""

    code = "task_rejected"


class TaskDead(TaskLost):
    """Given up: it kept losing its workers, or its outcome is unknown and must not be repeated."""

    code = "task_dead"


class LeaseLost(FairlaneError):
    """This worker incarnation is no longer alive for the store: all its writes are refused."""

    code = "lease_lost"


class ResultTimeout(FairlaneError, TimeoutError):
    """The result did not arrive within the caller's timeout. The task goes on."""

    code = "result_timeout"


class StoreError(FairlaneError):
    """The Redis side."""

    code = "store_error"


class StoreUnavailable(StoreError):
    """The server could not be reached or did not answer. ``outcome_known`` false: the command may have run."""

    code = "store_unavailable"

    def __init__(self, message: str, *, outcome_known: bool = True, **context: object) -> None:
        super().__init__(message, outcome_known=outcome_known, **context)
        self.outcome_known = outcome_known


class StoreUnsuitable(StoreError):
    """The server answers, but cannot be used: wrong kind, too old, evicting, read-only, no permission."""

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
    """What a provider raises to say how a call ended."""

    code = "provider_error"


class Throttled(ProviderError):
    """The provider asked for a pause: of ``retry_after_ms``, else as ``retry_after`` says.

    ``retry_after`` is what a Retry-After header holds, or a number of seconds. Neither, or nothing that makes sense,
    means that it named none: the pool's default pause.
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
            raise TypeError(f"a throttle's message is text, not {message!r}: seconds are retry_after=...")
        super().__init__(message, retry_after_ms=retry_after_ms, retry_after=retry_after, **context)
        self.retry_after_ms = retry_after_ms
        self.retry_after = retry_after


class ProviderFailed(ProviderError):
    """The call failed in a way that another attempt may cure."""

    code = "provider_failed"


class ProviderRefused(ProviderError):
    """The call can never succeed: no further attempt is made."""

    code = "provider_refused"
