"""Decides whether a failed attempt is retried, and after what wait."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from fairlane.backoff import Backoff
from fairlane.clock import Rng
from fairlane.config.workers import ManagerConfig
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid

Out = TypeVar("Out")


class Retries:
    """The limit on attempts, the waits between them, and the errors that are retried."""

    def __init__(
        self,
        config: ManagerConfig,
        retry_on: tuple[type[Exception], ...],
        *,
        rng: Rng,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        """``retry_on``: exceptions of the work that are retried. ``sleep`` waits for a number of seconds.

        Raises WorkerError: invalid_configuration.
        """
        if not isinstance(retry_on, tuple) or not all(_is_exception(each) for each in retry_on):
            raise invalid("retry_on", retry_on, "a tuple of exception classes")
        self._retry_on = retry_on
        self._stop = stop_after_attempt(config.retries + 1)
        self._backoff = Backoff(config.backoff_base_ms / 1000, config.backoff_cap_ms / 1000, rng)
        self._sleep = sleep

    async def run(self, attempt: Callable[[], Awaitable[Out]], before_retry: Callable[[WorkerError], None]) -> Out:
        """Make attempts until one succeeds; ``before_retry`` gets the error of each attempt that is retried.

        Raises:
            WorkerError: retries_exhausted, caused by the error of the last attempt; no_workers_available, caused by the
                error of the last attempt if there was one; any other error that is not retried.
        """
        failures: list[WorkerError] = []

        async def recorded_attempt() -> Out:
            try:
                return await attempt()
            except WorkerError as error:
                failures.append(error)
                raise

        retrying = AsyncRetrying(
            stop=self._stop,
            wait=lambda state: self._backoff.after(state.attempt_number - 1),
            retry=retry_if_exception(self._is_retryable),
            sleep=self._sleep,
            before_sleep=lambda _: before_retry(failures[-1]),
            retry_error_callback=lambda _: _give_up(failures),
        )
        try:
            output: Out = await retrying(recorded_attempt)
        except WorkerError as error:
            if error.code is WorkerErrorCode.NO_WORKERS_AVAILABLE and len(failures) > 1:
                raise error from failures[-2]
            raise
        return output

    def _is_retryable(self, error: BaseException) -> bool:
        if not isinstance(error, WorkerError):
            return False
        if error.code is WorkerErrorCode.TASK_FAILED:
            return isinstance(error.cause, self._retry_on)
        # Inside an attempt, a timeout is the attempt's own; the task's timeout ends the whole run.
        return error.retryable or error.code is WorkerErrorCode.TASK_TIMEOUT


def _is_exception(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def _give_up(failures: Sequence[WorkerError]) -> NoReturn:
    last = failures[-1]
    attempts = len(failures)
    raise WorkerError(
        WorkerErrorCode.RETRIES_EXHAUSTED,
        f"{attempts} of {attempts} attempts failed; last error: {last.message}",
        **(last.context | {"attempts": attempts}),
    ) from last
