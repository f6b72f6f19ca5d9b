"""The environment of Ray's processes. Fairlane sets it while Ray starts, and restores the user's afterwards.

Ray copies this process's environment into every process that it starts. Programs that the user starts later must not
inherit those entries: they would look like Ray's.
"""

import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

MARKER: Final = "FAIRLANE_RAY_SESSION"
"""Every process of a private Ray has this entry."""

_DEFAULTS: Final = {
    # Ray sends no usage statistics, does not rebuild `uv run` environments, and leaves accelerator variables alone.
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # By default Ray lowers the priority of its workers, but ours must not wait for other programs.
    "RAY_worker_niceness": "0",
    # When an actor's process has ended, Ray waits this long for the cause of death before the call fails; the default
    # is a second.
    "RAY_timeout_ms_task_wait_for_death_info": "50",
    # Disconnecting from a Ray that was killed waits this long to send it task events, and delays the program's end;
    # the default is 5 s.
    "RAY_task_events_shutdown_flush_timeout_ms": "500",
}
_AUTO_CONNECT: Final = "RAY_ENABLE_AUTO_CONNECT"
_AUTH_CHOICES: Final = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")

token: Final = secrets.token_hex(32)
"""One per process: Ray reads the token once and remembers it."""
_mode_is_ours = False


def set_defaults() -> None:
    """Set the variables that Ray reads when it is imported, except those that the user has set."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)


def authentication() -> dict[str, str]:
    """Return the entries that keep a private Ray's token authentication on, without a token file.

    Returns none if the user has configured authentication. Call it before Ray is imported: a Ray that was imported
    without ``RAY_AUTH_MODE`` uses its own default and must not see another mode later.
    """
    global _mode_is_ours  # noqa: PLW0603 - as process-wide as Ray's own memory of it
    if any(os.environ.get(name) for name in _AUTH_CHOICES):
        return {}
    if "ray" not in sys.modules:
        _mode_is_ours = True
    return {"RAY_AUTH_TOKEN": token} | ({"RAY_AUTH_MODE": "token"} if _mode_is_ours else {})


def importing() -> dict[str, str]:
    """Return the entries that keep Ray's functions from starting a Ray by themselves, unless the user has decided.

    Without them, a function that is called after its Ray has ended starts another one.
    """
    return {} if os.environ.get(_AUTO_CONNECT) else {_AUTO_CONNECT: "0"}


@contextmanager
def exported(entries: Mapping[str, str]) -> Iterator[None]:
    """Put ``entries`` into ``os.environ`` for the block; afterwards also undo Ray's own changes to authentication."""
    before = {name: os.environ.get(name) for name in (*entries, *_AUTH_CHOICES)}
    os.environ.update(entries)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
