"""Waiting for somebody else's code no longer than allowed, even if it ignores that it is cancelled."""

import asyncio
from typing import Any


async def bounded(call: "asyncio.Task[Any]", limit_s: float) -> bool:
    """Wait for a call, and say whether it ended in time.

    When its time is up, or the caller is cancelled, it is cancelled, and not waited for. What it raises is left in it.
    """
    call.add_done_callback(_see)
    try:
        await asyncio.wait({call}, timeout=limit_s)
        return call.done()
    finally:
        call.cancel()


def _see(call: "asyncio.Task[Any]") -> None:
    if not call.cancelled():
        call.exception()  # nobody may have waited for it
