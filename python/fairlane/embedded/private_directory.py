"""Directories that Fairlane makes for itself. Only these, and what is in them, are ever removed recursively.

A file inside proves that a directory is one of them.
"""

import os
import shutil
import stat
import tempfile
from pathlib import Path

from fairlane.errors import EmbeddedServerError

_PROOF = ".fairlane-private"


def create_private_directory(parent: Path | None = None) -> Path:
    """Make a directory of mode 0700 with a short new name in ``parent`` (default: the temporary directory).

    Raises EmbeddedServerError if no directory can be made in ``parent``.
    """
    try:
        path = Path(tempfile.mkdtemp(prefix="fairlane-", dir=parent)).resolve()
        (path / _PROOF).touch(mode=0o600)
    except OSError as error:
        raise EmbeddedServerError(f"cannot make a private directory: {error}", parent=str(parent)) from error
    return path


def is_within_private_directory(path: Path) -> bool:
    """Say whether ``path`` is, or is in, a directory made by `create_private_directory`. False for a symlink."""
    if not path.is_absolute() or ".." in path.parts or path.is_symlink() or not path.is_dir():
        return False
    return any(_is_proven(candidate) for candidate in (path, *path.parents))


def remove_private_directory(path: Path) -> None:
    """Remove ``path`` and everything in it if `is_within_private_directory` is True for it; otherwise do nothing.

    Files that cannot be removed stay, without an error: callers are ending and could not do better.
    """
    if is_within_private_directory(path):
        shutil.rmtree(path, ignore_errors=True)


def _is_proven(directory: Path) -> bool:
    try:
        proof = (directory / _PROOF).lstat()
    except OSError:
        return False
    return stat.S_ISREG(proof.st_mode) and proof.st_uid == os.getuid()
