"""The owner's side of the guard: starts it, and registers what to stop if the owner is killed."""

import io
import os
import select
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

import fairlane.errors
from fairlane.embedded.after_fork import close_in_forked_children
from fairlane.embedded.private_directory import is_within_private_directory
from fairlane.embedded.processes import identify
from fairlane.errors import ConfigError, EmbeddedServerError

_PROGRAM = Path(__file__).with_name("guard_process.py")
_MAX_LINE_BYTES = select.PIPE_BUF  # up to here the kernel writes a line whole or not at all


class Guard:
    """A small process that stops what this process has started, once this process has ended, even by SIGKILL.

    The guard notices the end of a pipe. It then stops everything that was registered before, within 10 s;
    registrations are not acknowledged. Keep this object until `close`: if it is garbage collected, the guard takes
    the owner for dead. Children of ``os.fork`` and of multiprocessing's fork method close the pipe by themselves. A
    child that C code forks without exec keeps it open, and the guard waits for that child too.

    All methods except `close` raise EmbeddedServerError if the guard has ended.
    """

    def __init__(self, process: subprocess.Popen[bytes], pipe: io.FileIO) -> None:
        """Use `start` instead."""
        self._process = process
        self._pipe = pipe
        self._owner_pid = os.getpid()

    @classmethod
    def start(cls, *, timeout_s: float = 10.0) -> "Guard":
        """Start a guard that watches nothing yet. Returns when it is ready.

        Start it before you set a marker in ``os.environ``. Raises EmbeddedServerError.
        """
        read_end, write_end = os.pipe()  # programs that are executed inherit neither
        pipe = io.FileIO(write_end, "w")
        close_in_forked_children(pipe)
        try:
            process = subprocess.Popen(  # noqa: S603 - our own file
                # Without site-packages it starts in half the time, and code from there cannot run in it.
                [sys.executable, "-S", "-P", str(_PROGRAM), str(os.getpid())],
                stdin=read_end,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
                # Ctrl-C must reach the owner only.
                start_new_session=True,
            )
        except OSError as error:
            pipe.close()
            raise EmbeddedServerError(f"cannot start the guard: {error}") from error
        finally:
            os.close(read_end)

        guard = cls(process, pipe)
        assert process.stdout is not None  # noqa: S101 - requested above
        with process.stdout as ready:
            if not select.select([ready], [], [], timeout_s)[0] or not ready.readline():
                process.kill()
                guard.close()
                raise EmbeddedServerError(f"the guard did not start (status {process.returncode})")
        return guard

    @property
    def pid(self) -> int:
        """The pid of the guard."""
        return self._process.pid

    def watch_process(self, pid: int) -> None:
        """Stop the process that has ``pid`` now, after all others. A process that has already ended is ignored."""
        process = identify(pid)
        if process is not None:
            self._send(f"watch pid {process}")

    def watch_marker(self, name: str, value: str) -> None:
        """Stop every process of this user that was started with ``name=value`` in its environment.

        Choose an unguessable value. Every process that this one starts after setting it in ``os.environ`` inherits
        it. The owner and the guard are never stopped. Only `watch_directory` finds a process that overwrites its
        environment, as some do to set their title.
        """
        if not name or "=" in name or not value:
            raise ConfigError(
                f"marker {name}={value}: must be a name without =, and a value",
                field="marker",
                value=f"{name}={value}",
            )
        self._send(f"watch marker {name}={value}")

    def watch_directory(self, path: Path) -> None:
        """Stop every process of this user that has a file in ``path`` open for writing; then remove ``path``.

        Raises ConfigError unless ``path`` is, or is in, a directory made by `create_private_directory`. Only on Linux
        can the guard see open files; elsewhere it only removes ``path``.
        """
        resolved = path.resolve()
        if not is_within_private_directory(resolved):
            raise ConfigError(
                f"{path}: must be made by create_private_directory",
                field="path",
                value=str(path),
            )
        self._send(f"watch directory {resolved}")

    def close(self) -> None:
        """End the guard without stopping or removing anything. Does nothing in a forked child, or a second time."""
        if self._pipe.closed or os.getpid() != self._owner_pid:
            return
        try:
            self._send("done")
        except EmbeddedServerError:
            pass  # it has ended already
        finally:
            self._pipe.close()
        try:
            self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:  # it is stopped, or gets no CPU
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, line: str) -> None:
        data = os.fsencode(line) + b"\n"
        if len(data) > _MAX_LINE_BYTES or b"\n" in data[:-1] or b"\0" in data:
            raise ConfigError(
                f"{line[:80]!r}: must be at most {_MAX_LINE_BYTES} bytes without line breaks",
                field="guard",
                value=line[:80],
            )
        try:
            self._pipe.write(data)
        except (OSError, ValueError) as error:  # ValueError: closed here
            raise EmbeddedServerError("the guard has ended", guard_pid=self._process.pid) from error


def _environment() -> dict[str, str]:
    """Return this environment, with imports from the directories of fairlane and psutil only."""
    roots = [Path(fairlane.errors.__file__).resolve().parents[1]]
    psutil = find_spec("psutil")
    if psutil is not None and psutil.origin is not None:
        roots.append(Path(psutil.origin).resolve().parents[1])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return environment | {"PYTHONPATH": os.pathsep.join(map(str, roots))}
