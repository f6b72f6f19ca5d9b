"""When a failed attempt is followed by another, and how much later."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from fairlane.backoff import Backoff
from fairlane.clock import Rng
from fairlane.config.workers import ManagerConfig
from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid

Out = TypeVar("Out")


class Retries:
    """The bound, the waits, and which errors are worth another attempt."""

    def __init__(
        self,
        config: ManagerConfig,
        retry_on: tuple[type[Exception], ...],
        *,
        rng: Rng,
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        """``retry_on``: what a task may raise without having failed for good; ``pause`` waits so many seconds.

        Raises WorkerError: invalid_configuration.
        """
        if not isinstance(retry_on, tuple) or not all(_is_exception(each) for each in retry_on):
            raise invalid("retry_on", retry_on, "a tuple of classes of exceptions")
        self._retry_on = retry_on
        self._stop = stop_after_attempt(config.retries + 1)
        self._backoff = Backoff(config.backoff_base_ms / 1000, config.backoff_cap_ms / 1000, rng)
        self._pause = pause

    async def run(self, attempt: Callable[[], Awaitable[Out]], between: Callable[[WorkerError], None]) -> Out:
        """Make attempts until one succeeds; ``between`` hears of each that is followed by another.

        Raises:
            WorkerError: retries_exhausted, from the error of the last attempt; no_workers_available, from that of the
                last attempt if there was one; any other error that no further attempt can mend.
        """
        failures: list[WorkerError] = []

        async def once() -> Out:
            try:
                return await attempt()
            except WorkerError as error:
                failures.append(error)
                raise

        retrying = AsyncRetrying(
            stop=self._stop,
            wait=lambda state: self._backoff.after(state.attempt_number - 1),
            retry=retry_if_exception(self._may_pass),
            sleep=self._pause,
            before_sleep=lambda _: between(failures[-1]),
            retry_error_callback=lambda _: _give_up(failures),
        )
        try:
            output: Out = await retrying(once)
        except WorkerError as error:
            if error.code is WorkerErrorCode.NO_WORKERS_AVAILABLE and len(failures) > 1:
                raise error from failures[-2]
            raise
        return output

    def _may_pass(self, error: BaseException) -> bool:
        if not isinstance(error, WorkerError):
            return False
        if error.code is WorkerErrorCode.TASK_FAILED:
            return isinstance(error.cause, self._retry_on)
        # Within an attempt it is the attempt's own time that was up.
        return error.retryable or error.code is WorkerErrorCode.TASK_TIMEOUT


def _is_exception(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def _give_up(failures: Sequence[WorkerError]) -> NoReturn:
    last = failures[-1]
    attempts = len(failures)
    raise WorkerError(
        WorkerErrorCode.RETRIES_EXHAUSTED,
        f"{attempts} of {attempts} attempts failed, the last one: {last.message}",
        **(last.context | {"attempts": attempts}),
    ) from last
