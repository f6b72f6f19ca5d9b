"""Until when a task, or one attempt at it, may go on."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid
from fairlane.workers.executor.task import Task


def checked_timeout(timeout_s: object) -> float | None:
    """Return how long a task may take, as it came in. Raises WorkerError: invalid_configuration."""
    if timeout_s is None:
        return None
    longest = sys.float_info.max
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not -longest <= timeout_s <= longest:
        raise invalid("timeout_s", timeout_s, "a finite number of seconds, or None")
    return timeout_s


@contextlib.asynccontextmanager
async def deadline(task: Task[Any, Any], limit_s: float | None, what: str) -> AsyncIterator[None]:
    """End the block when its time is up.

    Raises:
        WorkerError: task_timeout.
    """
    if limit_s is not None and limit_s <= 0:
        raise _timed_out(task, what, limit_s)
    try:
        async with asyncio.timeout(limit_s) as until:
            yield
    except TimeoutError as error:
        if not until.expired():
            raise
        raise _timed_out(task, what, limit_s) from error


def _timed_out(task: Task[Any, Any], what: str, limit_s: float | None) -> WorkerError:
    return WorkerError(
        WorkerErrorCode.TASK_TIMEOUT,
        f"task {task.id} {what} {limit_s} s",
        task=task.id,
        timeout_s=limit_s,
        workers=task.metadata.workers,
    )
