"""Keeps this process's signal handlers and excepthook, which Ray replaces.

When a connection begins, Ray's C++ code installs its own handler of SIGTERM: it writes the stack and ends the process,
by an alarm if that takes longer than 3 s. Python does not notice. When the connection ends, the system's default takes
its place. ``tests/runtime/test_ray_assumptions.py`` checks each thing that this module assumes of Ray.
"""

import ctypes
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_BEGIN: Final = "_ZN3ray6RayLog27InstallFailureSignalHandlerEPKcb"
_END: Final = "_ZN3ray6RayLog21UninstallSignalActionEv"
"""The functions in Ray's library that change the handlers. Each does nothing if its change has been made already."""
_KEPT: Final = (signal.SIGTERM, signal.SIGALRM)
"""SIGALRM: Ray's handler aborts the process by it."""
_ROOM: Final = 512
"""In bytes: more than the size of the C library's ``struct sigaction``."""
_HANDLER: Final = ctypes.sizeof(ctypes.c_void_p)
"""The size of the handler's address, with which that struct begins. The bytes after it are not compared."""

_c: Final = ctypes.CDLL(None)


@contextmanager
def kept(ray: Any, *, connecting: bool) -> Iterator[None]:  # noqa: ANN401 - a module
    """Keep the handlers while Ray connects or disconnects. Works on any thread.

    Makes and undoes Ray's change before Ray does: connecting takes a second, and Ray's handlers would be in force
    until its end.
    """
    with _restored():
        name, arguments = (_BEGIN, (None, False)) if connecting else (_END, ())
        change = getattr(ctypes.CDLL(ray._raylet.__file__), name, None)
        if change is not None:
            change(*arguments)
    with _restored():  # in case Ray's library lacks the function
        yield


def end_excepthook(ray: Any) -> None:  # noqa: ANN401 - a module
    """Restore Python's excepthook. Ray's first reports the error to a Ray that may have ended, and waits for it."""
    worker = ray._private.worker
    if sys.excepthook is getattr(worker, "custom_excepthook", None):
        sys.excepthook = worker.normal_excepthook


@contextmanager
def _restored() -> Iterator[None]:
    before = [(number, signal.getsignal(number), _action(number)) for number in _KEPT]
    try:
        yield
    finally:
        for number, handler, action in before:
            if signal.getsignal(number) is not handler or _action(number)[:_HANDLER] == action[:_HANDLER]:
                continue  # unchanged, or the program itself has changed it meanwhile
            _c.sigaction(number, action, None)
            if number == signal.SIGALRM:
                signal.alarm(0)  # set by Ray's handler, if it received a SIGTERM


def _action(number: int) -> bytes:
    """Return the system's ``struct sigaction`` of a signal."""
    action = ctypes.create_string_buffer(_ROOM)
    _c.sigaction(number, None, action)
    return action.raw
