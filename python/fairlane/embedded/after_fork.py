"""Closes files in forked children that must stay open in exactly one process.

A child made by ``os.fork`` or multiprocessing's fork method inherits every open file, close-on-exec or not.
The guard's pipe and the data lock both mean "the owner lives", so a child that keeps them open would keep a
dead owner alive. Children made by C code that forks without exec do not run Python's fork hooks: they are not
covered.
"""

import io
import os
from weakref import WeakSet

_files: WeakSet[io.FileIO] = WeakSet()


def close_in_forked_children(file: io.FileIO) -> None:
    """Close ``file`` in every child forked from now on, until it is closed here."""
    _files.add(file)


def _close_all() -> None:
    for file in list(_files):
        file.close()


os.register_at_fork(after_in_child=_close_all)
