"""Guards: a context that is entered only once, and a time limit that holds even if the awaited code ignores it."""

import asyncio
from typing import Any

from fairlane.workers.errors import WorkerError, WorkerErrorCode


class SingleUse:
    """Marks something that may begin only once, whether or not it succeeded or has ended."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = False

    def begin(self) -> None:
        """Raises WorkerError: illegal_transition: it was called before."""
        if self._begun:
            text = f"this {self._name} was entered before, and can be used only once: create another"
            raise WorkerError(WorkerErrorCode.ILLEGAL_TRANSITION, text, name=self._name)
        self._begun = True


async def wait_at_most(call: "asyncio.Task[Any]", limit_s: float) -> bool:
    """Wait for a call, and return whether it ended in time.

    After ``limit_s``, or if the caller is cancelled, the call is cancelled and left to itself. Its exception stays in
    the task.
    """
    call.add_done_callback(_mark_retrieved)
    try:
        await asyncio.wait({call}, timeout=limit_s)
        return call.done()
    finally:
        call.cancel()


def _mark_retrieved(call: "asyncio.Task[Any]") -> None:
    if not call.cancelled():
        call.exception()  # otherwise asyncio logs an exception that no caller retrieves
