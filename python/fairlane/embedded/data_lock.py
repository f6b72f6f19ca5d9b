"""Allows one server per data directory: a lock file that the owner and its server hold together.

The file names both. The server inherits the lock, so that the directory stays locked while either lives: a server may
outlive its owner for a moment and still write to the data.
"""

import fcntl
import io
import os
from pathlib import Path

from fairlane.embedded.after_fork import close_in_forked_children
from fairlane.embedded.processes import ProcessId, identify, is_alive, wait_until
from fairlane.errors import EmbeddedServerError

_NAME = "fairlane.lock"


class DataLock:
    """A held lock. `acquire` makes it; it ends with `release`, or when both owner and server have died."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file

    @classmethod
    def acquire(cls, directory: Path, *, wait_s: float) -> "DataLock":
        """Lock ``directory`` for this process.

        Raises EmbeddedServerError with ``owner_pid``: at once if the owner lives, or after ``wait_s`` if the owner is
        dead but its server is not (a guard would stop it in this time). ``server_pid`` is then that server's, if known.
        """
        path = directory / _NAME
        try:
            file = io.FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+")
        except OSError as error:
            raise EmbeddedServerError(f"cannot open {path}: {error}", directory=str(directory)) from error
        close_in_forked_children(file)
        lock = cls(file)
        try:
            lock._lock(directory, wait_s)
            lock._write([_this_process()])
        except BaseException:
            file.close()
            raise
        return lock

    def fileno(self) -> int:
        """Return the descriptor, which the server must inherit."""
        return self._file.fileno()

    def record_server(self, server: ProcessId) -> None:
        """Write the server's name into the file."""
        self._write([_this_process(), server])

    def release(self) -> None:
        """Release the lock, even if the server still has the descriptor. May be called twice."""
        if not self._file.closed:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()

    def _lock(self, directory: Path, wait_s: float) -> None:
        if not wait_until(lambda: self._try_to_lock(directory), wait_s, poll_s=0.05):
            raise self._left_behind(directory)

    def _try_to_lock(self, directory: Path) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A new holder takes the lock before it writes its name. Until then the file names the previous holder;
            # the next try reads the new name.
            owner, _ = self._holders()
            if owner is not None and is_alive(owner):
                raise EmbeddedServerError(
                    f"{directory} is in use by process {owner.pid}; stop it, or name another data_dir",
                    directory=str(directory),
                    owner_pid=owner.pid,
                ) from None
            return False
        except OSError as error:
            raise EmbeddedServerError(f"cannot lock {directory}: {error}", directory=str(directory)) from error
        return True

    def _left_behind(self, directory: Path) -> EmbeddedServerError:
        owner, server = self._holders()
        server_pid = server.pid if server is not None and is_alive(server) else None
        owner_pid = owner.pid if owner is not None else None
        holder = f"server process {server_pid}" if server_pid is not None else "a process"
        return EmbeddedServerError(
            f"{directory} is still held by {holder} left behind by process {owner_pid}, which has ended; stop it first",
            directory=str(directory),
            owner_pid=owner_pid,
            server_pid=server_pid,
        )

    def _holders(self) -> tuple[ProcessId | None, ProcessId | None]:
        lines = os.pread(self._file.fileno(), 256, 0).decode(errors="replace").splitlines()
        owner, server = (*lines, "", "")[:2]
        return ProcessId.parse(owner), ProcessId.parse(server)

    def _write(self, holders: list[ProcessId]) -> None:
        content = "".join(f"{holder}\n" for holder in holders).encode()
        os.pwrite(self._file.fileno(), content, 0)
        os.ftruncate(self._file.fileno(), len(content))


def _this_process() -> ProcessId:
    process = identify(os.getpid())
    if process is None:
        raise EmbeddedServerError("cannot read this process's own entry in /proc: is /proc mounted?")
    return process
