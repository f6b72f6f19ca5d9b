"""Starts the embedded server again, on its data, when its process ends by itself."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from fairlane.embedded.processes import identify
from fairlane.embedded.server import EmbeddedServer
from fairlane.errors import FairlaneError
from fairlane.runtime import process_thread
from fairlane.runtime.process_watch import ProcessWatch

_PAUSE_S: Final = 1.0
"""At least this long lies between two restarts."""

Observer = Callable[[FairlaneError | None], Awaitable[None]]
"""Called after a restart with None, or with why the server could not be started again."""

_log = logging.getLogger(__name__)


class ServerSupervision:
    """Watches one server; only on Linux. ``observers`` are called in their order."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self.observers: list[Observer] = []

    async def run(self) -> None:
        """Watch until cancelled, or until a restart fails."""
        loop = asyncio.get_running_loop()
        restarted_s = -_PAUSE_S
        while True:
            await self._ended()
            await asyncio.sleep(restarted_s + _PAUSE_S - loop.time())
            failure = None
            try:
                await process_thread.call(self._server.restart)
                _log.warning("the embedded server ended by itself; it runs again")
            except FairlaneError as error:
                failure = error
                _log.error("the embedded server ended by itself, and cannot be started again: %s", error)
            restarted_s = loop.time()
            for observer in tuple(self.observers):
                await observer(failure)
            if failure is not None:
                return

    async def _ended(self) -> None:
        pid = self._server.pid
        process = None if pid is None else identify(pid)
        if process is None:
            return
        ended = asyncio.Event()
        watch = ProcessWatch(process, ended.set)
        try:
            await ended.wait()
        finally:
            watch.close()
