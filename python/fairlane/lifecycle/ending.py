"""From the end of a provider call to the report for the store. Decides no state: the store does."""

import math
import re
from typing import Final

from fairlane.backoff import Backoff
from fairlane.clock import Rng
from fairlane.config import WorkerConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.limits import MAX_DURATION_MS
from fairlane.errors import ProviderError, ProviderFailed, ProviderRefused, Throttled
from fairlane.lifecycle.payload import encode
from fairlane.providers.base import Reply, usage_of
from fairlane.providers.reading import attribute, code_of, text_of, whole_units
from fairlane.providers.retry_after import retry_after_ms
from fairlane.redaction import without_secrets
from fairlane.store.messages import Settlement, StartedTask, Throttle

USAGE_UNKNOWN: Final = "usage_unknown"
"""Stored with a completed task whose provider reported no usage: its tenant was charged the hold."""
_LONGEST_ERROR: Final = 500
_SIGN: Final = r"[\\'\"]*\s*[:=]\s*"
"""The characters between a name and its value, also in JSON and in JSON within a string."""
_SECRETS: Final = re.compile(
    rf"(?i)(\b(?:proxy-)?authorization{_SIGN}|\b(?:set-)?cookie{_SIGN})(?:'[^']*|\"[^\"]*|[^\r\n]+)"
    r"|(\bbearer\s+)[^\s'\",;]+"
    rf"|([\w-]*(?:api[-_]?key|access[-_]?key|private[-_]?key|password|passwd|secret|token|credential){_SIGN})"
    r"(?:\\?'[^']*|\\?\"[^\"]*|[^\s'\",;&]+)"
    r"|([?&](?:key|sig|signature|code)=)[^&\s'\"]+"
)


class Endings:
    """Settlements and throttles for the attempts of one worker."""

    def __init__(self, config: WorkerConfig, rng: Rng) -> None:
        self._max_result_bytes = config.max_result_bytes
        self._backoff_ms = Backoff(config.backoff_base_ms, config.backoff_cap_ms, rng)

    def of(self, task: StartedTask, end: object) -> Settlement | Throttle:
        """Return the report of a call that returned or raised ``end``. Fails for no object, whatever it does."""
        try:
            return self.raised(task, end) if isinstance(end, BaseException) else self.completed(task, end)
        except BaseException:
            how = "what the provider returned or raised cannot be read: reading it raises"
            return self._failed(task, "unreadable_end", how, task.cost)

    def completed(self, task: StartedTask, reply: object) -> Settlement:
        """Return the settlement of a call that returned ``reply``."""
        if not isinstance(reply, Reply):
            return self._failed(task, "invalid_reply", f"the provider returned {type(reply).__name__}", 0)
        actual, note = whole_units(reply.actual_units), ""
        if actual is None:
            actual, note = task.cost, USAGE_UNKNOWN
        try:
            result = encode(reply.result)
        except ValueError as error:
            return refused(task, "invalid_result", f"the result is {error}", actual)
        if len(result) > self._max_result_bytes:
            words = f"{len(result)} bytes encoded: max_result_bytes = {self._max_result_bytes}"
            return refused(task, "result_too_large", words, actual)
        return Settlement(task.ref, task.fence, Outcome.COMPLETED, actual, result, note)

    def raised(self, task: StartedTask, error: BaseException) -> Settlement | Throttle:
        """Return the settlement of a call that raised, or its throttle."""
        if isinstance(error, Throttled):
            return Throttle(task.ref, task.fence, _pause_of(error))
        actual = usage_of(error, task.cost) or 0
        text = text_of(error)
        if isinstance(error, ProviderRefused):
            return refused(task, code_of(error, ProviderRefused.code), text, actual)
        if isinstance(error, ProviderError):
            return self._failed(task, code_of(error, ProviderFailed.code), text, actual)
        return self._failed(task, "provider_failed", f"{type(error).__name__}: {text}", actual)

    def _failed(self, task: StartedTask, code: str, message: str, actual: int) -> Settlement:
        backoff_ms = int(self._backoff_ms.after(task.failures))
        return Settlement(task.ref, task.fence, Outcome.FAILED, actual, b"", code, presentable(message), backoff_ms)


def refused(task: StartedTask, code: str, message: str, actual: int = 0) -> Settlement:
    """Return the settlement of an attempt after which no other can succeed."""
    return Settlement(task.ref, task.fence, Outcome.REFUSED, actual, b"", code, presentable(message))


def stopped(task: StartedTask, outcome: Outcome, end: object) -> Settlement:
    """Return the settlement of an attempt that the worker stopped: at the usage that the call reports, or 0."""
    return Settlement(task.ref, task.fence, outcome, usage_at_stop(task, end), b"", outcome.value)


def usage_at_stop(task: StartedTask, end: object) -> int:
    """Return the usage that a stopped call reports; 0 if it reports none, the hold if that is no number of units."""
    try:
        if isinstance(end, BaseException):
            return usage_of(end, task.cost) or 0
        said = end.actual_units if isinstance(end, Reply) else None
        units = 0 if said is None else whole_units(said)
    except BaseException:
        units = None
    return task.cost if units is None else units


def presentable(message: str) -> str:
    """Return an error text for the record: no secrets, at most 500 characters, valid UTF-8."""
    message = _SECRETS.sub(
        lambda found: "".join(part for part in found.groups() if part) + "***",
        without_secrets(message[: 4 * _LONGEST_ERROR]),
    )
    return message[:_LONGEST_ERROR].encode("utf-8", "replace").decode()


def _pause_of(error: Throttled) -> int | None:
    """Return the pause that a throttle asks for in milliseconds, rounded up; None if it names no valid one."""
    asked = attribute(error, "retry_after_ms")
    if asked is None:
        said = attribute(error, "retry_after")
        return retry_after_ms(said) if isinstance(said, str | int | float) else None
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not asked >= 0:  # NaN is not >= 0 either
        return None
    return MAX_DURATION_MS if asked >= MAX_DURATION_MS else math.ceil(asked)
