"""What this process does at SIGTERM, and with an error that ends it, stays what it was, whatever Ray puts there.

Ray's C++ code has a handler of its own for SIGTERM, which writes its stack and has the process aborted 3 s later.
It takes the place of this process's when a connection begins, where it runs although Python's own view has not
changed; and the system's takes its place when the connection ends.
"""

import ctypes
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_BEGIN: Final = "_ZN3ray6RayLog27InstallFailureSignalHandlerEPKcb"
_END: Final = "_ZN3ray6RayLog21UninstallSignalActionEv"
"""What Ray calls to change the handlers, in its library. Both do nothing if the change has been made."""
_KEPT: Final = (signal.SIGTERM, signal.SIGALRM)
"""SIGALRM: by which Ray's handler has the process aborted."""
_ROOM: Final = 512
"""More bytes than the C library's ``struct sigaction`` has."""
_HANDLER: Final = ctypes.sizeof(ctypes.c_void_p)
"""The bytes with which it begins: the handler's address. Others may be anything."""

_c: Final = ctypes.CDLL(None)


@contextmanager
def kept(ray: Any, *, connecting: bool) -> Iterator[None]:  # noqa: ANN401 - a module
    """Keep the handlers while Ray connects, or disconnects. On any thread.

    The change that Ray would make is made, and undone, before: connecting takes a second in which nothing could be.
    """
    with _restored():
        name, arguments = (_BEGIN, (None, False)) if connecting else (_END, ())
        change = getattr(ctypes.CDLL(ray._raylet.__file__), name, None)
        if change is not None:
            change(*arguments)
    with _restored():  # should Ray's library not have that
        yield


def end_excepthook(ray: Any) -> None:  # noqa: ANN401 - a module
    """Put Python's way to show a last error back: Ray's first tells it to a Ray that may have ended, and waits."""
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
                continue  # Python's users may change it meanwhile
            _c.sigaction(number, action, None)
            if number == signal.SIGALRM:
                signal.alarm(0)  # a SIGTERM came to Ray's handler, and has gone on to this process's


def _action(number: int) -> bytes:
    """Return what the system does at a signal, in the form that it takes."""
    action = ctypes.create_string_buffer(_ROOM)
    _c.sigaction(number, None, action)
    return action.raw
