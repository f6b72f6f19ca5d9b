"""Closes files in forked children, if they must stay open in exactly one process.

A child made by ``os.fork`` or multiprocessing's fork method inherits every open file, close-on-exec or not. The guard's
pipe and the data lock both mean "the owner lives": a child that keeps them open would make a dead owner look alive.
Children that C code forks without exec are not covered, because they do not run Python's fork hooks.
"""

import io
import os
from weakref import WeakSet

_files: WeakSet[io.FileIO] = WeakSet()


def close_in_forked_children(file: io.FileIO) -> None:
    """Close ``file`` in every child forked from now on, until this process closes it."""
    _files.add(file)


def _close_all() -> None:
    for file in list(_files):
        file.close()


os.register_at_fork(after_in_child=_close_all)
