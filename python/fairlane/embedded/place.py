"""The files of one server: its data directory, its lock and the path of its socket."""

import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fairlane.embedded.data_lock import DataLock
from fairlane.embedded.private_directory import create_private_directory, remove_private_directory
from fairlane.errors import ConfigError

_SOCKET = "server.sock"
_MAX_SOCKET_PATH_BYTES = 99  # the kernel's limit is 107 on Linux and 103 on macOS
_SHORT_PARENT = Path("/tmp")  # noqa: S108 - only for a new directory of mode 0700


@dataclass(frozen=True, slots=True)
class Place:
    """A prepared and locked place. `leave` removes the directories in ``temporary``."""

    directory: Path
    socket: Path
    lock: DataLock
    temporary: tuple[Path, ...]

    @property
    def config(self) -> Path:
        """The server's configuration file."""
        return self.directory / "server.conf"

    @property
    def log(self) -> Path:
        """The server's log. In a ``data_dir`` it is kept over several starts."""
        return self.directory / "server.log"

    @classmethod
    def prepare(cls, data_dir: Path | None, *, wait_s: float) -> "Place":
        """Make the directories and take the lock. After a failure only an empty ``data_dir`` may remain.

        Raises ConfigError (``data_dir`` cannot be used) and EmbeddedServerError (see `DataLock.acquire`).
        """
        temporary: list[Path] = []
        lock: DataLock | None = None
        try:
            if data_dir is None:
                directory = create_private_directory()
                temporary.append(directory)
            else:
                directory = _kept_directory(data_dir)
            lock = DataLock.acquire(directory, wait_s=wait_s)
            socket_directory = directory
            if not _socket_fits(directory):
                default = Path(tempfile.gettempdir())
                socket_directory = create_private_directory(
                    default if _socket_fits(default / "fairlane-12345678") else _SHORT_PARENT
                )
                temporary.append(socket_directory)
        except BaseException:
            if lock is not None:
                lock.release()
            _remove(temporary)
            raise
        return cls(directory, socket_directory / _SOCKET, lock, tuple(temporary))

    def leave(self) -> None:
        """Remove the temporary directories and release the lock. Call it only after the server has ended."""
        _remove(self.temporary)
        self.lock.release()


def _kept_directory(path: Path) -> Path:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = path.resolve(strict=True)
        status = directory.stat()
    except OSError as error:
        raise ConfigError(f"cannot make data_dir {path}: {error}", field="data_dir", value=str(path)) from error
    # An existing directory may be anything, even /tmp: only its owner may change its mode.
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.getuid() or mode & 0o077:
        raise ConfigError(
            f"data_dir {path} has owner {status.st_uid} and mode {mode:04o}; it must be yours, "
            f"with mode 0700: name a directory that does not exist yet, or run chmod 700 on this one",
            field="data_dir",
            value=str(path),
        )
    return directory


def _socket_fits(directory: Path) -> bool:
    return len(os.fsencode(directory / _SOCKET)) <= _MAX_SOCKET_PATH_BYTES


def _remove(directories: tuple[Path, ...] | list[Path]) -> None:
    for directory in directories:
        remove_private_directory(directory)
