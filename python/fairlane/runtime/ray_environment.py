"""What Ray's processes find in their environment. Set while Ray starts, and taken back afterwards.

Ray copies this process's environment into all that it starts; programs that the user starts later are not Ray's and
must not look like it.
"""

import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

MARKER: Final = "FAIRLANE_RAY_SESSION"
"""Carried by every process of a private Ray."""

_DEFAULTS: Final = {
    # No report to Ray's makers, no re-building of `uv run` environments, no touching of accelerator variables.
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Ray's workers are nice by default and would let anything else on the machine run first; ours hand tasks over.
    "RAY_worker_niceness": "0",
    # A call to an actor whose process has ended fails only once Ray has waited so long, by default a second, for a
    # better explanation than that.
    "RAY_timeout_ms_task_wait_for_death_info": "50",
    # What disconnects from a Ray that has been killed waits so long, by default 5 s, to tell it about its tasks;
    # the end of a program waits for that.
    "RAY_task_events_shutdown_flush_timeout_ms": "500",
}
_AUTO_CONNECT: Final = "RAY_ENABLE_AUTO_CONNECT"
_AUTH_CHOICES: Final = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")

token: Final = secrets.token_hex(32)
"""One per process: Ray reads the token once and remembers it."""
_mode_is_ours = False


def set_defaults() -> None:
    """Set what Ray reads when it is imported, unless the user has decided otherwise."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)


def authentication() -> dict[str, str]:
    """Return the entries that keep a private Ray's token authentication on, without a token file.

    Whatever the user has set about it is left alone. Call it before Ray is imported: a Ray that was imported without
    ``RAY_AUTH_MODE`` has its own default and must not see another one.
    """
    global _mode_is_ours  # noqa: PLW0603 - as process-wide as Ray's own memory of it
    if any(os.environ.get(name) for name in _AUTH_CHOICES):
        return {}
    if "ray" not in sys.modules:
        _mode_is_ours = True
    return {"RAY_AUTH_TOKEN": token} | ({"RAY_AUTH_MODE": "token"} if _mode_is_ours else {})


def importing() -> dict[str, str]:
    """Return the entries with which Ray, once imported, starts only where it is told to, unless the user has decided.

    Else its functions start another Ray where the one they are for has ended.
    """
    return {} if os.environ.get(_AUTO_CONNECT) else {_AUTO_CONNECT: "0"}


@contextmanager
def exported(entries: Mapping[str, str]) -> Iterator[None]:
    """Have ``entries`` in ``os.environ`` meanwhile; also undoes what Ray sets about authentication itself."""
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
