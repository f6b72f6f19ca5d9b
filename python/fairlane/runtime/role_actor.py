"""The actor: one process that runs one role, whichever it is, on an event loop and in a thread of its own.

The process lives as long as its role. If the role ends without having been asked to, the process ends, so that the
driver sees it and makes another one. A process without its role would look healthy and do nothing.

The class is plain; Ray wraps it. It has no asynchronous method, since an asynchronous actor cannot handle SIGTERM.
"""

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from types import FrameType
from typing import Final, Literal

import uvloop

from fairlane.config import REDIS_URL_VARIABLE
from fairlane.errors import ConfigError, FairlaneError
from fairlane.run import Role, RoleReport, Signals
from fairlane.runtime.ray_actors import ActorProcess
from fairlane.store.connection import Endpoint
from fairlane.store.store import Store

_LINGER_S: Final = 1.0
"""How long a process stays after its role failed, so that the driver can read the reason and does not restart it at
once."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """How an actor finds the store. ``url`` None: it holds a secret, and is in the actor's environment."""

    name: str
    url: str | None
    call_timeout_ms: int
    connections: int

    def open(self) -> Store:
        """Return the store, not yet connected.

        Raises:
            ConfigError: the environment does not have the URL.
        """
        url = self.url or os.environ.get(REDIS_URL_VARIABLE)
        if not url:
            raise ConfigError(f"{REDIS_URL_VARIABLE} is not set on this machine of the Ray cluster")
        return Store(Endpoint(url, self.call_timeout_ms, self.connections), self.name)


RoleMaker = Callable[[Store], Role]
"""Makes a role: a role's class, or a function, with all arguments but the store bound. It must pickle."""


class RoleActor:
    """Runs a role, as its owner. Its methods may be called from any thread; those that stop return at once."""

    def __init__(self, name: str, address: StoreAddress, make: RoleMaker, earlier: int = 0) -> None:
        """Start the role. ``earlier``: how many actors of this name there were before. Call it on the main thread."""
        self._name = name
        self._address = address
        self._make = make
        self._is_first = earlier == 0
        self._role: Role | None = None
        self._signals = Signals()
        self._startup_error: Future[str] = Future()
        """Empty as soon as the role is ready; or why it ended before."""
        self._terminating = False
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._thread.start()
        signal.signal(signal.SIGTERM, self._terminate)

    def __repr__(self) -> str:
        """Return the actor's name, as Ray's dashboard and logs show it."""
        return self._name

    def startup_error(self, timeout_s: float) -> str:
        """Wait until the role is ready and return an empty string; or why it is not."""
        try:
            return self._startup_error.result(timeout_s)
        except TimeoutError:
            return f"not ready after {timeout_s:g} s"

    def process(self) -> ActorProcess:
        """Return the process that this is."""
        return ActorProcess.current()

    def health(self) -> RoleReport:
        """Return what the role reports. A process whose role has ended does not answer, for it has ended, too."""
        return RoleReport() if self._role is None else self._role.report()

    def stop(self, grace_s: float | None = None) -> None:
        """Request a stop; see `Signals.request_stop`. The process stays."""
        self._call(lambda: self._signals.request_stop(grace_s))

    def stop_now(self) -> None:
        """Request a stop without waiting for running calls; see `Signals.request_stop_now`."""
        self._call(self._signals.request_stop_now)

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
        """Handle SIGTERM: stop the role, then end the process. A second one stops at once."""
        if self._terminating:
            self.stop_now()
            return
        self._terminating = True
        if self._thread.is_alive():
            self.stop()
        else:
            os._exit(0)

    def _main(self) -> None:
        async def run() -> None:  # no method: it would make the actor an asynchronous one
            reporting = asyncio.create_task(self._signals.ready.wait())
            reporting.add_done_callback(self._report_readiness)
            try:
                async with self._address.open() as store:
                    if self._is_first:  # later the store may be away for a while, and the role waits
                        await store.check()
                    self._role = self._make(store)
                    await self._role.run(self._signals)
            finally:
                reporting.cancel()

        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(run())
        except BaseException as error:
            self._fail(error)
        if self._terminating:
            os._exit(0)
        if not self._signals.stop.is_set():
            self._fail(RuntimeError("it ended without having been asked to"))

    def _report_readiness(self, waiting: asyncio.Task[Literal[True]]) -> None:
        if not waiting.cancelled():
            self._startup_error.set_result("")

    def _fail(self, error: BaseException) -> None:
        _log.error("%s: %s; the process ends", self._name, error, exc_info=error)
        if not self._startup_error.done():
            shown = error.message if isinstance(error, FairlaneError) else f"{type(error).__name__}: {error}"
            self._startup_error.set_result(shown)
        time.sleep(_LINGER_S)
        os._exit(1)
