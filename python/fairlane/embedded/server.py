"""The private server. It listens on a unix socket, in a session of its own.

`EmbeddedServer.stop` ends it; the end of its owner does not. If the owner was killed, the guard stops it.
"""

import os
import secrets
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from fairlane.embedded.binary import Binary, find_binary
from fairlane.embedded.guard import Guard
from fairlane.embedded.ping import ask
from fairlane.embedded.place import Place
from fairlane.embedded.processes import ProcessId, identify, send_signal, wait_until
from fairlane.embedded.server_config import Durability, render
from fairlane.errors import EmbeddedServerError

_MARKER = "FAIRLANE_SERVER"
_PING_TIMEOUT_S = 1.0
_ORPHAN_WAIT_S = 10.0  # within this time a guard stops the server of a dead owner
_TERM_WAIT_S = 1.0
_KILL_WAIT_S = 5.0
_LOG_TAIL_BYTES = 2000


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address for clients of this user on this machine."""

    socket: Path

    @property
    def url(self) -> str:
        """``unix:///path``, percent-encoded."""
        return "unix://" + quote(os.fsencode(self.socket))


class EmbeddedServer:
    """A private server of this process.

    Without ``data_dir`` the data are in memory only, and `stop` removes the server's private directory. With it, the
    data are kept there with ``durability``; the directory (made with mode 0700 if missing) serves one server at a time.
    With a ``guard``, the server and its temporary directories also end if this process is killed.

    Not thread-safe. The server belongs to the process that made this object: in a forked child `stop` does nothing, and
    no other method may be called.
    """

    def __init__(
        self,
        data_dir: Path | None = None,
        durability: Durability = Durability.ALWAYS,
        *,
        binary: Path | None = None,
        guard: Guard | None = None,
        start_timeout_s: float = 30.0,
        stop_timeout_s: float = 3.0,
    ) -> None:
        self._data_dir = data_dir
        self._durability = None if data_dir is None else durability
        self._explicit_binary = binary
        self._guard = guard
        self._start_timeout_s = start_timeout_s
        self._stop_timeout_s = stop_timeout_s
        self._owner_pid = os.getpid()
        self._marker_value = secrets.token_hex(8)
        self._place: Place | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._identity: ProcessId | None = None

    @property
    def pid(self) -> int | None:
        """The running server's pid; None before the start, after the stop, and after a crash."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self) -> ServerAddress:
        """Start the server and wait until it answers. If it runs already, only return its address.

        Raises ConfigError if ``data_dir`` cannot be used, and EmbeddedServerError if there is no binary, if the data
        are in use (with ``owner_pid``), or if the server ended or did not answer within ``start_timeout_s`` (with the
        end of its ``log``). After an error nothing runs, nothing is locked, and no temporary directory remains.
        """
        if self._place is not None and self.pid is not None:
            return ServerAddress(self._place.socket)
        try:
            binary = find_binary(self._explicit_binary)
            if self._place is None:
                self._place = Place.prepare(self._data_dir, wait_s=_ORPHAN_WAIT_S)
            return self._launch(binary, self._place)
        except BaseException:
            self.stop()
            raise

    def restart(self) -> ServerAddress:
        """Start again with the same data and the same socket, after a crash or instead of the running server.

        Data without a ``data_dir`` are lost. Raises the errors of `start`.
        """
        self._end_process()
        return self.start()

    def stop(self) -> None:
        """Stop the server and remove its temporary directories; kept data stay. May be called at any time, and again.

        Takes at most 2 * ``stop_timeout_s`` + 6 s, if the server hangs. If the process survives SIGKILL, raises
        EmbeddedServerError and keeps the lock and the directories.
        """
        if os.getpid() != self._owner_pid:
            return
        self._end_process()
        if self._place is not None:
            self._place.leave()
            self._place = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def address(self) -> ServerAddress:
        """The address that `start` returned. Raises EmbeddedServerError before the start."""
        if self._place is None:
            raise EmbeddedServerError("the embedded server is not started: call start() first")
        return ServerAddress(self._place.socket)

    def _launch(self, binary: Binary, place: Place) -> ServerAddress:
        if self._guard is not None:
            # Before the server starts: if this process is killed right after that, the guard must know already.
            self._guard.watch_marker(_MARKER, self._marker_value)
            for directory in place.temporary:
                self._guard.watch_directory(directory)
        config = render(directory=place.directory, socket=place.socket, log=place.log, durability=self._durability)
        log_start = place.log.stat().st_size if place.log.exists() else 0
        try:
            with (
                open(place.config, "wb", opener=_open_private) as config_file,
                # A file, not a pipe: nobody would read it, and a full pipe would block the server.
                open(place.log, "ab", opener=_open_private) as log_file,
            ):
                config_file.write(config)
                config_file.flush()
                self._process = subprocess.Popen(  # noqa: S603 - the caller's binary, no shell
                    [binary.path, place.config],
                    stdin=subprocess.DEVNULL,
                    stdout=log_file,
                    stderr=log_file,
                    cwd=place.directory,
                    env=os.environ | {"LC_ALL": "C", _MARKER: self._marker_value},
                    start_new_session=True,
                    umask=0o077,
                    pass_fds=(place.lock.fileno(),),
                )
        except OSError as error:
            raise EmbeddedServerError(f"cannot start {binary.path}: {error}", binary=str(binary.path)) from error
        self._identity = identify(self._process.pid)
        if self._identity is not None:
            place.lock.record_server(self._identity)
            if self._guard is not None:
                self._guard.watch_process(self._process.pid)
        self._await_answer(self._process, binary, place, log_start)
        return ServerAddress(place.socket)

    def _await_answer(self, process: subprocess.Popen[bytes], binary: Binary, place: Place, log_start: int) -> None:
        reply = ""

        def settled() -> bool:
            nonlocal reply
            if process.poll() is not None:
                return True
            try:
                reply = ask(place.socket, "PING", _PING_TIMEOUT_S)
            except OSError as error:
                reply = str(error)
            return reply == "+PONG"

        if wait_until(settled, self._start_timeout_s, poll_s=0.005) and process.poll() is None:
            return
        status = process.poll()
        if status is not None:
            happened = f"ended with status {status} while starting"
        else:  # perhaps it still loads a large file (LOADING), and needs more time
            happened = f"was not ready after {self._start_timeout_s:g} s ({reply or 'no answer'})"
        log = _tail(place.log, log_start)
        raise EmbeddedServerError(
            f"{binary.path} {happened}; end of its log:\n{log or '(empty)'}",
            binary=str(binary.path),
            status=status,
            log=log,
        )

    def _end_process(self) -> None:
        process, place = self._process, self._place
        if process is None or place is None:
            return
        if process.poll() is None and self._ask_to_shut_down(place):
            _wait(process, self._stop_timeout_s)
        for signum, wait_s in ((signal.SIGTERM, _TERM_WAIT_S), (signal.SIGKILL, _KILL_WAIT_S)):
            if process.poll() is None and self._identity is not None:
                send_signal(self._identity, signum)
                _wait(process, wait_s)
        if process.poll() is None:
            raise EmbeddedServerError(f"server process {process.pid} still runs after SIGKILL", pid=process.pid)
        self._process = self._identity = None

    def _ask_to_shut_down(self, place: Place) -> bool:
        command = "SHUTDOWN NOSAVE" if self._durability is None else "SHUTDOWN"
        try:
            return ask(place.socket, command, self._stop_timeout_s) == ""
        except ConnectionResetError:
            return True  # the server has closed the connection, with data in flight
        except OSError:
            return False


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> None:
    wait_until(lambda: process.poll() is not None, timeout_s)


def _tail(log: Path, start: int) -> str:
    """Return the end of what was logged after byte ``start``."""
    try:
        with open(log, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(start, size - _LOG_TAIL_BYTES))
            return file.read().decode(errors="replace").strip()
    except OSError:
        return ""
