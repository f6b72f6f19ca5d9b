"""What a scheduler runs on: a server and Ray."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from fairlane.config.section import Milliseconds, Section

REDIS_URL_VARIABLE: Final = "FAIRLANE_REDIS_URL"


class ServerConfig(Section):
    """The Redis or Valkey server: a URL, or a private embedded server if there is none."""

    url: Annotated[str | None, Field(repr=False)] = None
    """``redis://host:port``, ``rediss://host:port`` or ``unix:///path``. If the file names none, `load_config` takes
    $FAIRLANE_REDIS_URL, where a password belongs. None: Fairlane embeds a private server."""
    binary: Path | None = None
    """The embedded server's binary; None: Fairlane finds one."""
    data_dir: Path | None = None
    """Where the embedded server keeps its data; None: the data are lost when it stops."""
    call_timeout_ms: Milliseconds = 5_000
    """How long one call may take, connecting and retries included. After that the server counts as unavailable."""
    connections: Annotated[int, Field(strict=True, ge=2, le=1024)] = 8
    """Connections for calls, in each process. Waiting for a bell takes one more."""


class RayConfig(Section):
    """The Ray that the actors run on: a cluster by its address, or a private Ray on this machine."""

    address: str | None = None
    """``host:port`` of a cluster, or ``auto``; None starts a private Ray on this machine."""
    num_cpus: Annotated[int, Field(strict=True, ge=1, le=1024)] = 2
    """CPUs that a private Ray offers its actors. Fairlane's own actors take none of them."""
    dashboard: bool = False
    """Whether a private Ray serves its dashboard, which needs ``ray[default]``."""
    start_timeout_ms: Milliseconds = 60_000
    """How long Ray, and then each actor, may take to become ready."""
    namespace: str | None = None
    """The namespace of the named actors; None: it follows from the scheduler's name."""
