"""Time limits of a task and of a single attempt."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

from fairlane.workers.errors import WorkerError, WorkerErrorCode, invalid
from fairlane.workers.executor.task import Task


def checked_timeout(timeout_s: object) -> float | None:
    """Return the timeout of a task, validated. Raises WorkerError: invalid_configuration."""
    if timeout_s is None:
        return None
    longest = sys.float_info.max
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not -longest <= timeout_s <= longest:
        raise invalid("timeout_s", timeout_s, "a finite number of seconds, or None")
    return timeout_s


@contextlib.asynccontextmanager
async def deadline(task: Task[Any, Any], limit_s: float | None, failure: str) -> AsyncIterator[None]:
    """Cancel the block after ``limit_s`` seconds. ``failure`` begins the error text, which ends with the limit.

    Raises:
        WorkerError: task_timeout.
    """
    if limit_s is not None and limit_s <= 0:
        raise _timed_out(task, failure, limit_s)
    try:
        async with asyncio.timeout(limit_s) as timeout:
            yield
    except TimeoutError as error:
        if not timeout.expired():
            raise
        raise _timed_out(task, failure, limit_s) from error


def _timed_out(task: Task[Any, Any], failure: str, limit_s: float | None) -> WorkerError:
    return WorkerError(
        WorkerErrorCode.TASK_TIMEOUT,
        f"task {task.id} {failure} {limit_s} s",
        task=task.id,
        timeout_s=limit_s,
        workers=task.metadata.workers,
    )
