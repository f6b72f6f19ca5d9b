"""A connection to Ray, and the private Ray that may be at its other end."""

import logging
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fairlane.embedded.guard import Guard
from fairlane.embedded.guard_process import find, stop
from fairlane.embedded.private_directory import create_private_directory, remove_private_directory
from fairlane.runtime import ray_environment, ray_signals

_LONGEST_PARENT: Final = 30
"""In characters. Longer ones would make the paths of Ray's sockets too long."""


@dataclass(slots=True)
class PrivateRay:
    """The processes and the directory of a Ray that Fairlane starts."""

    guard: Guard
    directory: Path = field(init=False)
    marker: str = field(init=False)

    def __post_init__(self) -> None:
        parent = Path("/tmp") if len(tempfile.gettempdir()) > _LONGEST_PARENT else None  # noqa: S108 - mode 0700
        self.directory = create_private_directory(parent)
        self.marker = secrets.token_hex(16)
        self.watch(self.guard)

    @property
    def log(self) -> Path | None:
        """The raylet's log, which says why Ray did not start; None if Ray did not get that far."""
        log = self.directory / "session_latest" / "logs" / "raylet.out"
        return log if log.exists() else None

    def watch(self, guard: Guard) -> None:
        """Have the guard stop this Ray if this process is killed. Some of Ray's processes hide the marker."""
        guard.watch_marker(ray_environment.MARKER, self.marker)
        guard.watch_directory(self.directory)

    def kill(self) -> None:
        """Stop the processes that still run."""
        markers, spared = {(ray_environment.MARKER, self.marker)}, {os.getpid(), self.guard.pid}
        stop(lambda: find(markers, [self.directory], spared=spared))


@dataclass(slots=True)
class Connection:
    """The connection of this process. Only the process thread reads and changes it."""

    asked: str | None
    private: PrivateRay | None
    ours: bool
    exported: Mapping[str, str]
    dashboard_url: str | None = None
    token: str | None = None
    """A private Ray's token; None if the user has configured authentication."""
    users: int = 0

    def end(self) -> None:
        """Disconnect, and stop a private Ray."""
        if self.ours:
            import ray  # noqa: PLC0415 - it is in use

            _shut_down(ray)
        if self.private is not None:
            self.private.kill()
            remove_private_directory(self.private.directory)


def init(ray: Any, **options: object) -> Any:  # noqa: ANN401 - a module, and its context
    """Call ``ray.init`` without Ray's own logging in the driver; if it raises, undo what it has done."""
    try:
        with ray_signals.kept(ray, connecting=True):
            return ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except BaseException:
        _shut_down(ray)
        raise


@contextmanager
def on_loopback(ray: Any) -> Iterator[None]:  # noqa: ANN401 - a module
    """Have the processes of a Ray that starts within the block listen on loopback only, as Ray does it on macOS."""
    constants = ray._private.ray_constants
    before = constants.ENABLE_RAY_CLUSTER
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before


def _shut_down(ray: Any) -> None:  # noqa: ANN401 - a module
    with ray_signals.kept(ray, connecting=False):
        ray.shutdown()
