"""This process's connection to Ray: a private Ray, an existing cluster, or a connection that the user has opened.

A process has one connection. Sessions share it while it is open. The last session to leave closes it, if Fairlane
opened it.
"""

import asyncio
import logging
import threading
from collections.abc import Mapping
from typing import Any, Final

from fairlane.config import RayConfig
from fairlane.embedded.guard import Guard
from fairlane.embedded.private_directory import remove_private_directory
from fairlane.errors import ConfigError, FairlaneError, RuntimeStartError
from fairlane.runtime import process_thread, ray_environment, ray_signals
from fairlane.runtime.ray_connection import Connection, PrivateRay, init, on_loopback

_OBJECT_STORE_BYTES: Final = 75 * 2**20  # the least that Ray accepts; no task passes through the object store
_CONNECT_TIMEOUT_S: Final = 5.0
_SHUTDOWN_TIMEOUT_S: Final = 15.0


_open: Connection | None = None
_starting = False
_given_up = threading.Lock()
"""Decides which came first: a start ended, or the session gave it up."""


class RaySession:
    """One user of the connection. ``guard`` outlives it; a private Ray's processes get ``environment``."""

    def __init__(self, config: RayConfig, guard: Guard, environment: Mapping[str, str]) -> None:
        self._config = config
        self._guard = guard
        self._environment = environment
        self._private: PrivateRay | None = None
        self._connection: Connection | None = None
        self._starting = False
        self._keeps_log = False
        self.is_given_up = False
        """True: a start hung and was abandoned. It may still start processes."""

    @property
    def is_private(self) -> bool:
        """Whether Fairlane started this Ray."""
        return self._connection is not None and self._connection.private is not None

    @property
    def exported(self) -> Mapping[str, str]:
        """The environment entries that a private Ray's processes got."""
        return {} if self._connection is None else self._connection.exported

    @property
    def dashboard_url(self) -> str | None:
        """The address of a private Ray's dashboard, if there is one."""
        return None if self._connection is None else self._connection.dashboard_url

    @property
    def dashboard_token(self) -> str | None:
        """The token that the dashboard asks for; None if the user has configured Ray's authentication."""
        return None if self._connection is None else self._connection.token

    async def start(self) -> None:
        """Connect; start a private Ray if no address is configured. After an error, call `stop`.

        Raises:
            ConfigError: the address cannot be used.
            RuntimeStartError: Ray did not start or did not answer; names the log if there is one.
        """
        if self._config.address not in (None, "auto"):
            await _reach(self._config.address)
        timeout_ms = self._config.start_timeout_ms
        self._starting = True
        try:
            await process_thread.call(self._enter, timeout_s=timeout_ms / 1000)
        except TimeoutError:
            raise self._failed(f"not ready after {timeout_ms} ms") from None
        except FairlaneError:
            raise
        except Exception as error:
            first_line, *_ = str(error).strip().splitlines() or [type(error).__name__]
            raise self._failed(first_line) from error

    async def stop(self) -> None:
        """Leave the connection. The last session to leave ends a private Ray and removes its directory.

        The directory stays if a failed start named a log in it.
        """
        with _given_up:
            connection, self._connection = self._connection, None
            self.is_given_up = connection is None and self._starting
        if self.is_given_up:
            logging.getLogger("ray").setLevel(logging.CRITICAL)  # else it logs the ends of its processes
        private, self._private = self._private, None
        if connection is not None:
            try:
                await process_thread.call(lambda: _leave(connection), timeout_s=_SHUTDOWN_TIMEOUT_S)
            except TimeoutError:
                private = connection.private
            else:
                private = None
        if private is not None:
            await asyncio.to_thread(private.kill)
            if not self._keeps_log:
                remove_private_directory(private.directory)

    def _failed(self, problem: str) -> RuntimeStartError:
        if self._private is None:
            return RuntimeStartError(f"Ray: {problem}")
        log = self._private.log
        if log is None:
            return RuntimeStartError(f"Ray did not start: {problem}")
        self._keeps_log = True
        return RuntimeStartError(f"Ray did not start: {problem}; its log: {log}", log=str(log))

    def _enter(self) -> None:
        """Connect, on the process thread; disconnect again if the session has given up."""
        global _open  # noqa: PLW0603 - as process-wide as Ray's own connection
        connection = None
        try:
            if not self.is_given_up:
                connection = self._connect()
        finally:
            with _given_up:
                self._starting = False
                if connection is not None and not self.is_given_up:
                    connection.users += 1
                    _open = self._connection = connection
        if connection is not None and connection.users == 0:
            connection.end()

    def _connect(self) -> Connection:
        global _starting  # noqa: PLW0603 - see _enter
        ray_environment.set_defaults()
        address = self._config.address
        login = ray_environment.authentication() if address is None else {}
        with ray_environment.exported(login | ray_environment.importing()):
            import ray  # noqa: PLC0415 - reads the environment, once

        if _starting:
            raise RuntimeStartError("Ray: an earlier start in this process still hangs; use a new process")
        if ray.is_initialized() and _open is not None:
            return self._share(_open)
        if ray.is_initialized():
            return Connection(address, None, ours=False, exported={})
        _starting = True
        try:
            if address is None:
                return self._start_private(ray, login)
            init(ray, address=address)
            return Connection(address, None, ours=True, exported={})
        finally:
            _starting = False

    def _share(self, connection: Connection) -> Connection:
        if connection.ours and self._config.address != connection.asked:
            raise ConfigError(
                f"ray.address = {self._config.address}: this process is already connected to "
                f"{connection.asked or 'a private Ray'}, and a process can have one connection; use another process",
                field="ray.address",
            )
        if connection.private is not None:
            connection.private.watch(self._guard)
        return connection

    def _start_private(self, ray: Any, login: Mapping[str, str]) -> Connection:  # noqa: ANN401 - a module
        ray_signals.end_excepthook(ray)
        private = self._private = PrivateRay(self._guard)
        entries = {**self._environment, **login, ray_environment.MARKER: private.marker}
        with ray_environment.exported(entries), on_loopback(ray):
            context = init(
                ray,
                address="local",  # else Ray reads RAY_ADDRESS
                num_cpus=self._config.num_cpus,
                object_store_memory=_OBJECT_STORE_BYTES,
                include_dashboard=self._config.dashboard,
                dashboard_host="127.0.0.1",
                _temp_dir=str(private.directory),
            )
        url, token = context.dashboard_url or None, login.get("RAY_AUTH_TOKEN")
        return Connection(None, private, True, dict(self._environment), url, token)


def _leave(connection: Connection) -> None:
    """Leave, on the process thread; the last user ends the connection."""
    global _open  # noqa: PLW0603 - see RaySession
    connection.users -= 1
    if connection.users == 0:
        if _open is connection:
            _open = None
        connection.end()


async def _reach(address: str | None) -> None:
    """Check that something listens at the address. Ray itself would wait long for a wrong one."""
    host, colon, port = (address or "").rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        raise ConfigError(f"ray.address = {ascii(address)[:80]}: must be host:port or auto", field="ray.address")
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, TimeoutError, OverflowError) as error:
        reason = str(error) or f"no answer within {_CONNECT_TIMEOUT_S:g} s"
        raise RuntimeStartError(f"Ray at {address}: {reason}", address=address) from None
    writer.close()
