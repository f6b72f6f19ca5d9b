"""Ray's dashboard: whether it is installed, its address, and how to log in."""

from importlib.util import find_spec
from typing import Final

from fairlane.errors import ConfigError
from fairlane.runtime.ray_session import RaySession

_NEEDED: Final = ("aiohttp", "aiohttp_cors", "colorful")
"""Modules that ``ray[default]`` installs, and without which Ray starts no dashboard."""


def check_installed(asked: str) -> None:
    """Check that the dashboard can start. ``asked`` is the setting that wants it.

    Raises:
        ConfigError: says what to install.
    """
    if any(find_spec(module) is None for module in _NEEDED):
        raise ConfigError(
            f"{asked}: Ray's dashboard is not installed; run: pip install 'ray[default]'", field="ray.dashboard"
        )


def invitation(session: RaySession | None) -> list[str]:
    """Return the address of a private Ray's dashboard and how to log in, one line each; nothing if there is none."""
    if session is None or not session.dashboard_url:
        return []
    token = session.dashboard_token
    return [
        f"Ray's dashboard: http://{session.dashboard_url} (Actors: dispatcher, controller, worker-1 …)",
        "if it asks for a token, use yours: RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH names it"
        if token is None
        else f"it asks for a token; paste this one: {token}",
    ]
