"""Notices at once when a process of this machine ends, also if another process started it."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable

from fairlane.embedded.processes import ProcessId, is_alive


class ProcessWatch:
    """Calls ``ended`` once, on the running loop, when exactly this process has ended; not after `close`.

    On a system without process descriptors, or if it denies us one, ``ended`` is never called.
    """

    def __init__(self, process: ProcessId, ended: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = ended
        self._descriptor: int | None = None
        self._soon: asyncio.Handle | None = None
        if sys.platform != "linux":
            return
        with contextlib.suppress(OSError):
            self._descriptor = os.pidfd_open(process.pid)
            self._loop.add_reader(self._descriptor, self._on_end)
        if not is_alive(process):
            self._soon = self._loop.call_soon(self._on_end)

    def close(self) -> None:
        """Stop watching."""
        if self._soon is not None:
            self._soon.cancel()
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)

    def _on_end(self) -> None:
        self.close()
        self._ended()
