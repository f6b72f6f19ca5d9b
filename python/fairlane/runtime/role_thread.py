"""Runs one role on an event loop of its own, in one thread of the process that an actor is.

The process stands and falls with the role: if the role ends unasked, the process ends, so that whoever supervises it
starts a new one. A process that lives on without its role would look healthy and do nothing.
"""

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

import uvloop

from fairlane.errors import FairlaneError

_LINGER_S: Final = 1.0
"""How long a process that failed stays, so that its reason can be read, and that it does not restart too fast."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Signals:
    """What a role and its process tell each other. ``ready`` is set by the role, the others by the process."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    stop_now: asyncio.Event = field(default_factory=asyncio.Event)
    ready: asyncio.Event = field(default_factory=asyncio.Event)


class RoleThread:
    """A started role. Its methods may be called from any thread."""

    def __init__(self, name: str, work: Callable[[Signals], Awaitable[None]]) -> None:
        self._name = name
        self._work = work
        self._problem: Future[str] = Future()
        """Empty as soon as the role is ready; or why it ended before that."""
        self._signals = Signals()
        self._loop = uvloop.new_event_loop()
        self._terminating = False
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._thread.start()

    def handle_sigterm(self) -> None:
        """From now on SIGTERM stops the role and then ends the process; a second one stops at once.

        Call it on the main thread.
        """
        signal.signal(signal.SIGTERM, self._terminate)

    def problem(self, timeout_s: float) -> str:
        """Wait until the role is ready, and return an empty string; or why it is not."""
        try:
            return self._problem.result(timeout_s)
        except TimeoutError:
            return f"not ready after {timeout_s:g} s"

    def stop(self) -> None:
        """Ask the role to finish what it has and end. The process stays."""
        self._call(self._signals.stop.set)

    def stop_now(self) -> None:
        """Ask the role to end without finishing."""
        self._call(self._signals.stop.set)
        self._call(self._signals.stop_now.set)

    def join(self, timeout_s: float) -> bool:
        """Wait for the role's end; return whether it has ended."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _call(self, function: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:
            return  # the loop is closed: the role has ended

    def _terminate(self, _number: int, _frame: FrameType | None) -> None:
        if self._terminating:
            self.stop_now()
            return
        self._terminating = True
        if self._thread.is_alive():
            self.stop()
        else:
            os._exit(0)

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._run())
        except BaseException as error:
            self._fail(error)
        if self._terminating:
            os._exit(0)
        if not self._signals.stop.is_set():
            self._fail(RuntimeError("it ended unasked"))

    async def _run(self) -> None:
        telling = asyncio.create_task(self._tell_when_ready())
        try:
            await self._work(self._signals)
        finally:
            telling.cancel()

    async def _tell_when_ready(self) -> None:
        await self._signals.ready.wait()
        self._problem.set_result("")

    def _fail(self, error: BaseException) -> None:
        _log.error("%s: %s; the process ends", self._name, error, exc_info=error)
        if not self._problem.done():
            told = error.message if isinstance(error, FairlaneError) else f"{type(error).__name__}: {error}"
            self._problem.set_result(told)
        time.sleep(_LINGER_S)
        os._exit(1)
