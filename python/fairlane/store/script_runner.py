"""Runs commands as functions or scripts of the server, waits for bells, and sends single commands.

It knows no command's meaning.
"""

import re
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final, Self

from redis.exceptions import NoScriptError, ResponseError

from fairlane.errors import StoreError
from fairlane.store import scripts
from fairlane.store.bell import Bell
from fairlane.store.codec import unpack
from fairlane.store.connection import Command, Connector, Endpoint
from fairlane.store.error_classifier import code_of
from fairlane.store.keys import Keys
from fairlane.store.requests import encode

_HAS_ANOTHER_WAY: Final = ("turn",)
"""Commands that a full server refuses, and whose callers then use others that it admits."""
_LAST_EVENTS: Final = 1_000
"""How many events a full server keeps: they give way before a call is refused."""
_NO_FUNCTION: Final = "Function not found"
_REFUSES_FCALL: Final = re.compile(r"(?:unknown command|no permissions? to run the) ['`]fcall['`]", re.IGNORECASE)


class ServerFull(Exception):
    """The server's memory is full, and it has not begun a command that may add to it."""


class ScriptRunner:
    """The connection of one scheduler's store; the base of its commands."""

    def __init__(self, endpoint: Endpoint, name: str, *, virtual_now_ms: Callable[[], int] | None = None) -> None:
        self.endpoint = endpoint
        self.name = name
        self.keys = Keys(name)
        self._connector = Connector(endpoint)
        self._virtual_now_ms = virtual_now_ms
        self._bells: dict[str, Bell] = {}
        self.uses_functions = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        for bell in self._bells.values():
            await bell.close()
        self._bells.clear()
        await self._connector.close()

    async def wait(self, sleeper: str, timeout_s: float) -> bool:
        """Sleep until a bell rings (True) or the time is over (False). Look at the state either way."""
        bell = self._bells.get(sleeper)
        if bell is None:
            bell = self._bells[sleeper] = Bell(self._connector, self.keys.bell(sleeper))
        return await bell.wait(timeout_s)

    def _script(self, command: str, /, **request: Any) -> Command:  # noqa: ANN401 - each field has its own type
        now = self._virtual_now_ms() if self._virtual_now_ms else 0
        return ("FCALL", scripts.function(command), 1, self.keys.pool, now, encode(command, **request))

    async def _raw(self, command: str, /, **request: Any) -> bytes:  # noqa: ANN401 - each field has its own type
        (reply,) = await self._run([self._script(command, **request)])
        return bytes(reply)

    async def _call(self, command: str, /, **request: Any) -> Any:  # noqa: ANN401 - each command knows its fields and its reply
        return unpack(await self._raw(command, **request))

    async def _command(self, *command: str | bytes | int) -> Any:  # noqa: ANN401 - the command decides
        (reply,) = await self._run([command])
        return reply

    async def _run(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one round trip and return their replies.

        A server without functions, or one that refuses to load them, gets scripts instead.

        Raises:
            ServerFull: for a command whose caller has another way; for others it is a StoreUnavailable, after retries.

        """
        if self.uses_functions:
            try:
                return await self._connector.run(commands, lambda error: self._remedy(error, commands))
            except StoreError as error:
                if not _needs_scripts(error):
                    raise
                self.uses_functions = False
        plain = [_as_script(command) for command in commands]
        return await self._connector.run(plain, lambda error: self._remedy(error, plain))

    def _remedy(self, error: BaseException, commands: Sequence[Command]) -> list[Command]:
        """Return the commands that load what the server does not have, or make room on a full one.

        Raises:
            ServerFull: see _run.

        """
        if isinstance(error, ResponseError) and code_of(error) == "OOM":
            if not _names(commands).isdisjoint(_HAS_ANOTHER_WAY):
                raise ServerFull from error
            return [("XTRIM", self.keys.events, "MAXLEN", _LAST_EVENTS)]
        if isinstance(error, NoScriptError):
            return [("SCRIPT", "LOAD", scripts.source(name)) for name in _names(commands)]
        if _NO_FUNCTION in str(error):
            return [("FUNCTION", "LOAD", "REPLACE", scripts.library(name)) for name in _names(commands)]
        return []


def _names(commands: Sequence[Command]) -> set[str]:
    return {name for name in map(_command_of, commands) if name}


def _needs_scripts(error: StoreError) -> bool:
    """Return whether the server knows no functions, does not let this user call them, or did not load one."""
    return _NO_FUNCTION in error.message or _REFUSES_FCALL.search(error.message) is not None


def _command_of(call: Command) -> str | None:
    """Return the command of a function or script; None for a single command of the server."""
    if call[0] not in {"FCALL", "EVALSHA"}:
        return None
    return scripts.command_of(str(call[1]).removeprefix("fairlane_"))


def _as_script(command: Command) -> Command:
    name = _command_of(command)
    return ("EVALSHA", scripts.digest(name), *command[2:]) if name else command
