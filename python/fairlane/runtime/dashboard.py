"""Ray's dashboard: whether it can be had here, where it is, and how people log in."""

from importlib.util import find_spec
from typing import Final

from fairlane.errors import ConfigError
from fairlane.runtime.ray_session import RaySession

_NEEDED: Final = ("aiohttp", "aiohttp_cors", "colorful")
"""Of what ``ray[default]`` adds to Ray: modules without which Ray starts no dashboard."""


def check_installed(asked: str) -> None:
    """Refuse what was ``asked`` for without what the dashboard needs.

    Raises:
        ConfigError: saying what to install.
    """
    if any(find_spec(module) is None for module in _NEEDED):
        raise ConfigError(
            f"{asked}: Ray's dashboard is not installed; run: pip install 'ray[default]'", field="ray.dashboard"
        )


def invitation(session: RaySession | None) -> list[str]:
    """Say where the dashboard of a private Ray is and how to log in, a line each; nothing if there is none."""
    if session is None or not session.dashboard_url:
        return []
    token = session.dashboard_token
    return [
        f"Ray's dashboard: http://{session.dashboard_url} (Actors: dispatcher, controller, worker-1 …)",
        "if it asks for a token, it is the one that RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH names"
        if token is None
        else f"it asks for a token; paste this one: {token}",
    ]
