"""From how a provider call ended to what the store is told. Decides no state: the store does."""

import re
from typing import Final

from fairlane.clock import Rng
from fairlane.config import WorkerConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.limits import MAX_COST, MAX_DURATION_MS
from fairlane.errors import ProviderError, ProviderRefused, Throttled
from fairlane.lifecycle.backoff import full_jitter
from fairlane.lifecycle.payload import encode
from fairlane.providers.base import Reply, usage_of
from fairlane.store.messages import Settlement, StartedTask, Throttle

_LONGEST_ERROR: Final = 500
_SECRETS: Final = re.compile(
    r"(?i)(://[^/\s:@]*:)[^@\s]+(?=@)"
    r"|(\bbearer\s+)[^\s'\",;]+"
    r"|(\b(?:api[-_]?key|x-api-key|authorization|password|passwd|secret|token)['\"]?\s*[:=]\s*['\"]?)(?!bearer)[^\s'\",;]+"
    r"|\b(sk-)[\w-]{8,}"
)


class Endings:
    """Settlements and throttles for the attempts of one worker."""

    def __init__(self, config: WorkerConfig, rng: Rng) -> None:
        self._config = config
        self._rng = rng

    def completed(self, task: StartedTask, reply: object) -> Settlement:
        """Settle what the provider returned."""
        if type(reply) is not Reply:
            return self._failed(task, "invalid_reply", f"the provider returned {type(reply).__name__}", 0)
        actual = reply.actual_units
        if actual is None:
            actual = task.cost
        elif type(actual) is not int or not 0 <= actual <= MAX_COST:
            shown = ascii(actual)[:60]
            return self._failed(task, "invalid_usage", f"actual_units = {shown}: not in 0..{MAX_COST}", task.cost)
        try:
            result = encode(reply.result)
        except ValueError as error:
            return refused(task, "invalid_result", f"the result is {error}", actual)
        if len(result) > self._config.max_result_bytes:
            words = f"{len(result)} bytes encoded: max_result_bytes = {self._config.max_result_bytes}"
            return refused(task, "result_too_large", words, actual)
        return Settlement(task.ref, task.fence, Outcome.COMPLETED, actual, result)

    def raised(self, task: StartedTask, error: BaseException) -> Settlement | Throttle:
        """Tell how a call ended that raised."""
        if isinstance(error, Throttled):
            return Throttle(task.ref, task.fence, _retry_after(error.retry_after_ms))
        actual = _bounded(usage_of(error))
        if isinstance(error, ProviderRefused):
            return refused(task, error.code, str(error), actual)
        if isinstance(error, ProviderError):
            return self._failed(task, error.code, str(error), actual)
        return self._failed(task, "provider_failed", f"{type(error).__name__}: {error}", actual)

    def _failed(self, task: StartedTask, code: str, message: str, actual: int) -> Settlement:
        config = self._config
        backoff_ms = full_jitter(
            self._rng,
            base=config.backoff_base_ms,
            cap=config.backoff_cap_ms,
            failures=task.failures,
        )
        return Settlement(
            task.ref, task.fence, Outcome.FAILED, actual, b"", code, presentable(message), int(backoff_ms)
        )


def refused(task: StartedTask, code: str, message: str, actual: int = 0) -> Settlement:
    """Settle an attempt after which none can succeed."""
    return Settlement(task.ref, task.fence, Outcome.REFUSED, actual, b"", code, presentable(message))


def stopped(task: StartedTask, outcome: Outcome, end: Reply | BaseException) -> Settlement:
    """Settle an attempt that the worker stopped: at what the call says it used, else at nothing."""
    told = end.actual_units if isinstance(end, Reply) else usage_of(end)
    return Settlement(task.ref, task.fence, outcome, _bounded(told), b"", outcome.value)


def presentable(message: str) -> str:
    """Return an error text for the record: no secrets, at most 500 characters, valid UTF-8."""
    message = _SECRETS.sub(
        lambda found: "".join(part for part in found.groups() if part) + "***", message[: 4 * _LONGEST_ERROR]
    )
    return message[:_LONGEST_ERROR].encode("utf-8", "replace").decode()


def _retry_after(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_DURATION_MS else None


def _bounded(actual: object) -> int:
    return actual if type(actual) is int and 0 <= actual <= MAX_COST else 0
