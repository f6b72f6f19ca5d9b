"""The owner's side of the guard: starts it and tells it what to stop, should the owner be killed."""

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
    """A small process that stops what this one started, once this one is gone: also after SIGKILL.

    It notices by the end of a pipe. What was told to it before the owner's death is acted upon, without any
    acknowledgement; within 10 s all of it is gone. Losing this object counts as the owner's death: keep it
    until `close`. Children made by ``os.fork`` and multiprocessing's fork method let go of the pipe by
    themselves; a child forked by C code that does not exec would keep the guard waiting until it ends, too.

    All methods raise EmbeddedServerError if the guard is gone, except `close`.
    """

    def __init__(self, process: subprocess.Popen[bytes], pipe: io.FileIO) -> None:
        """Use `start`."""
        self._process = process
        self._pipe = pipe
        self._owner_pid = os.getpid()

    @classmethod
    def start(cls, *, timeout_s: float = 10.0) -> "Guard":
        """Start a guard that watches nothing yet and return when it is ready.

        Start it before setting a marker in ``os.environ``. Raises EmbeddedServerError.
        """
        read_end, write_end = os.pipe()  # neither is inherited by a program that is executed
        pipe = io.FileIO(write_end, "w")
        close_in_forked_children(pipe)
        try:
            process = subprocess.Popen(  # noqa: S603 - our own file
                # Without site-packages it starts in half the time, and nothing that was put there runs in it.
                [sys.executable, "-S", "-P", str(_PROGRAM), str(os.getpid())],
                stdin=read_end,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
                # Out of the terminal's reach: Ctrl-C is the owner's to handle.
                start_new_session=True,
            )
        except OSError as error:
            pipe.close()
            raise EmbeddedServerError(f"the guard cannot be started: {error}") from error
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
        """The guard's own pid."""
        return self._process.pid

    def watch_process(self, pid: int) -> None:
        """Stop the process that has ``pid`` now; last of all. One that has already ended is ignored."""
        process = identify(pid)
        if process is not None:
            self._tell(f"watch pid {process}")

    def watch_marker(self, name: str, value: str) -> None:
        """Stop every process of this user that was started with ``name=value`` in its environment.

        Choose an unguessable value. It reaches all that this process starts after putting it into
        ``os.environ``. The owner and the guard are never meant. A process that overwrites its environment, as
        some do to set their title, is found by `watch_directory` only.
        """
        if not name or "=" in name or not value:
            raise ConfigError(f"{name}={value} cannot be an environment entry", field="marker", value=f"{name}={value}")
        self._tell(f"watch marker {name}={value}")

    def watch_directory(self, path: Path) -> None:
        """Stop every process of this user that has a file in ``path`` open for writing; then remove ``path``.

        Raises ConfigError if ``path`` is not, or not within, a directory made by `create_private_directory`.
        Open files are seen on Linux only; elsewhere ``path`` is just removed.
        """
        resolved = path.resolve()
        if not is_within_private_directory(resolved):
            raise ConfigError(f"{path} was not made by Fairlane", field="path", value=str(path))
        self._tell(f"watch directory {resolved}")

    def close(self) -> None:
        """Dismiss the guard: nothing is stopped or removed. No effect in a forked child or a second time."""
        if self._pipe.closed or os.getpid() != self._owner_pid:
            return
        try:
            self._tell("done")
        except EmbeddedServerError:
            pass  # it is gone, which is all that is wanted
        finally:
            self._pipe.close()
        try:
            self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:  # stopped, or starved of CPU
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _tell(self, line: str) -> None:
        data = os.fsencode(line) + b"\n"
        if len(data) > _MAX_LINE_BYTES or b"\n" in data[:-1] or b"\0" in data:
            raise ConfigError("too long for the guard, or with a line break in it", field="guard", value=line[:80])
        try:
            self._pipe.write(data)
        except (OSError, ValueError) as error:  # ValueError: closed here
            raise EmbeddedServerError("the guard is gone", guard_pid=self._process.pid) from error


def _environment() -> dict[str, str]:
    """Return this environment, importing from the directories of fairlane and psutil only."""
    roots = [Path(fairlane.errors.__file__).resolve().parents[1]]
    psutil = find_spec("psutil")
    if psutil is not None and psutil.origin is not None:
        roots.append(Path(psutil.origin).resolve().parents[1])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return environment | {"PYTHONPATH": os.pathsep.join(map(str, roots))}
