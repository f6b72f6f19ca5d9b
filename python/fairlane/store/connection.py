"""Connections to one server: addresses, connection pools, deadlines and safe retries.

This module uses redis-py's connections directly instead of its command layer: only so it knows whether a command had
left when a call failed, and two scripts can share a round trip. redis-py's own retries are off: it would silently
repeat a command whose reply was lost.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from redis import exceptions
from redis.asyncio.connection import AbstractConnection

from fairlane.clock import Rng, system_rng
from fairlane.errors import ConfigError, StoreError, StoreUnavailable, StoreUnsuitable
from fairlane.store.connection_pool import Connections
from fairlane.store.error_classifier import classify

_FIRST_PAUSE_S: Final = 0.01
_LONGEST_PAUSE_S: Final = 0.5
_MOST_WAITS: Final = 64
_SCRIPT_CALLS: Final = ("EVAL", "EVALSHA", "FCALL")
_SCHEMES: Final = ("redis", "rediss", "unix")

Command = tuple[str | bytes | int, ...]
LOST: Final = (exceptions.ConnectionError, exceptions.TimeoutError, OSError, TimeoutError, EOFError)


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """The server's address. Picklable; its text shows no password."""

    url: str
    call_timeout_ms: int = 5_000
    connections: int = 8

    @property
    def shown(self) -> str:
        """The address without credentials."""
        parts = urlsplit(self.url)
        if parts.scheme == "unix":
            return f"unix://{parts.path}"
        host = parts.hostname or "?"
        return f"{parts.scheme}://{host}:{parts.port or 6379}{parts.path}"

    def __repr__(self) -> str:
        return f"Endpoint({self.shown})"

    def checked(self) -> "Endpoint":
        """Return self if the URL can be used.

        Raises:
            ConfigError: naming the schemes that are accepted.

        """
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in _SCHEMES and (parts.path if parts.scheme == "unix" else parts.hostname)
            _ = parts.port
        except ValueError:
            usable = None
        if not usable:
            raise ConfigError(
                "server.url: must be redis://host:port, rediss://host:port or unix:///path",
                field="server.url",
            )
        return self


class Connector:
    """Runs commands within a deadline, and keeps long waits off the connections that calls use."""

    def __init__(self, endpoint: Endpoint, *, rng: Rng | None = None) -> None:
        self.endpoint = endpoint.checked()
        timeout_s = endpoint.call_timeout_ms / 1000
        self._calls = Connections(endpoint.url, endpoint.connections, connect_timeout_s=timeout_s)
        self._waits = Connections(endpoint.url, _MOST_WAITS, connect_timeout_s=timeout_s)
        self._rng = rng or system_rng()

    async def close(self) -> None:
        """Close every connection."""
        await self._calls.close()
        await self._waits.close()

    async def run(self, commands: Sequence[Command], recover: Callable[[BaseException], list[Command]]) -> list[Any]:
        """Send commands in one round trip and return their replies. Retries while the deadline allows.

        Every command must be safe to repeat. ``recover`` may name commands to run first for an error (loading
        scripts), after which all are sent again.

        Raises:
            StoreError: of the last try that has a reason. StoreUnavailable says whether the commands may have run.

        """
        pause_s = _FIRST_PAUSE_S
        sent_once = False
        last: StoreError | None = None
        now = _Try()
        try:
            async with asyncio.timeout(self.endpoint.call_timeout_ms / 1000):
                while True:
                    try:
                        return await self._try(commands, recover, now)
                    except _CallFailed as failed:
                        sent_once = sent_once or failed.sent
                        failure = classify(failed.cause, sent=sent_once, where=self.endpoint.shown)
                        if not failure.retry:
                            raise _naming_keys(failure.error, commands) from failed.cause
                        if sent_once or last is None or _says_why(failure.error) or not _says_why(last):
                            last = failure.error
                    now = _Try()
                    await asyncio.sleep(self._rng.uniform(pause_s / 2, pause_s))
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        except TimeoutError:
            raise (self._late(now) if now.sent or last is None else last) from None

    def _late(self, now: "_Try") -> StoreError:
        where, limit = self.endpoint.shown, self.endpoint.call_timeout_ms
        what = "answer within {} ms (the command may have run)" if now.sent else "connection within {} ms"
        return StoreUnavailable(f"{where}: no {what.format(limit)}", outcome_known=not now.sent, where=where)

    async def _try(
        self, commands: Sequence[Command], recover: Callable[[BaseException], list[Command]], now: "_Try"
    ) -> list[Any]:
        try:
            connection = await self._calls.take()
        except (*LOST, exceptions.RedisError) as error:
            raise _CallFailed(error, sent=False) from error
        now.sent = True
        try:
            replies = await _exchange(connection, commands)
            first = next((reply for reply in replies if isinstance(reply, BaseException)), None)
            fix = recover(first) if first is not None else []
            if fix:
                await _exchange(connection, fix)
                replies = await _exchange(connection, commands)
                first = next((reply for reply in replies if isinstance(reply, BaseException)), None)
        except (*LOST, exceptions.RedisError) as error:
            raise _CallFailed(error, sent=True) from error
        finally:
            self._calls.give_back(connection)
        if first is not None:
            raise _CallFailed(first, sent=False) from first
        return replies

    async def block(self, command: Command) -> Any:  # noqa: ANN401 - the command decides
        """Run one blocking command on a connection of its own. Cancelling drops the connection.

        Raises:
            StoreError: classified; no retry was made.

        """
        sent = False
        try:
            connection = await self._waits.take()
            try:
                sent = True
                (reply,) = await _exchange(connection, [command])
            finally:
                self._waits.give_back(connection)
        except (*LOST, exceptions.RedisError) as error:
            raise classify(error, sent=sent, where=self.endpoint.shown).error from error
        if isinstance(reply, BaseException):
            raise classify(reply, sent=False, where=self.endpoint.shown).error from reply
        return reply


def _says_why(error: StoreError) -> bool:
    """Return whether the server itself gave a reason. A refused client gets one, or only a closed connection."""
    return "reason" in error.context


def _naming_keys(error: StoreError, commands: Sequence[Command]) -> StoreError:
    """Return the error; if the server's user may not do this, with what it was: the server's own text does not say."""
    if not isinstance(error, StoreUnsuitable) or "permission" not in error.message.lower():
        return error
    asked = {
        f"{command[0]!s} {command[3 if command[0] in _SCRIPT_CALLS else 1]!s}" for command in commands if command[1:]
    }
    text = f"{error.message}; asked for: {', '.join(sorted(asked))}; docs/operations.md has the ACL line"
    return StoreUnsuitable(text, **error.context)


@dataclass(slots=True)
class _Try:
    """``sent``: the commands may have left."""

    sent: bool = False


class _CallFailed(Exception):
    def __init__(self, cause: BaseException, *, sent: bool) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.sent = sent


async def _exchange(connection: AbstractConnection, commands: Sequence[Command]) -> list[Any]:
    """Send all commands, then read all replies; an error reply is a value, so that the stream stays in step."""
    try:
        await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        replies: list[Any] = []
        for _ in commands:
            try:
                replies.append(await connection.read_response(disconnect_on_error=False))
            except (exceptions.ResponseError, exceptions.BusyLoadingError) as error:
                replies.append(error)
    except BaseException:
        await connection.disconnect(nowait=True)
        raise
    return replies
