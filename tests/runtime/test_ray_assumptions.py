"""The assumptions of `fairlane.runtime.ray_signals` about Ray, as seen with Ray 2.60.0.

If one of these fails with a newer Ray, that assumption no longer holds: see whether Ray still replaces the handlers of
the process that connects, and change or remove `ray_signals` accordingly.
"""

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from typing import Any, Final

import pytest

SEEN_WITH: Final = "2.60.0"
LOAD: Final = """
import ctypes, fcntl, json, os, signal, sys

from fairlane.runtime import ray_environment, ray_signals
ray_environment.set_defaults()
before = sys.excepthook
import ray

library = ctypes.CDLL(ray._raylet.__file__)
"""
LOOK: Final = """
worker = ray._private.worker
found = {
    "excepthook": sys.excepthook is getattr(worker, "custom_excepthook", None),
    "normal_excepthook": getattr(worker, "normal_excepthook", None) is before,
    "begin": hasattr(library, ray_signals._BEGIN),
    "end": hasattr(library, ray_signals._END),
}
if found["begin"] and found["end"]:
    begin, end = getattr(library, ray_signals._BEGIN), getattr(library, ray_signals._END)

    def handler():
        return ray_signals._action(signal.SIGTERM)[: ray_signals._HANDLER]

    def mine(*_):
        ...

    signal.signal(signal.SIGTERM, mine)
    before = handler()
    begin(None, False)
    found["replaced"] = handler() != before
    found["unseen"] = signal.getsignal(signal.SIGTERM) is mine
    signal.signal(signal.SIGTERM, mine)
    begin(None, False)
    found["begun_once"] = handler() == before
    end()
    found["ended"] = handler() != before
    signal.signal(signal.SIGTERM, mine)
    end()
    found["ended_once"] = handler() == before
print(json.dumps(found))
"""
END: Final = """
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
getattr(library, ray_signals._BEGIN)(None, False)
os.kill(os.getpid(), signal.SIGTERM)
"""
HANG: Final = """
os.set_blocking(2, False)
try:
    while True:
        os.write(2, bytes(4096))
except BlockingIOError:
    os.set_blocking(2, True)  # it is full: what Ray writes there will wait
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Load Ray in a process that calls what Ray calls when it connects and disconnects; return what it finds."""
    command = [sys.executable, "-c", LOAD + LOOK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def explained(assumption: str) -> str:
    """Name the assumption that no longer holds."""
    return f"with Ray {SEEN_WITH} {assumption}; with Ray {version('ray')} that is no longer so"


@pytest.mark.parametrize(
    ("assumption", "fact"),
    [
        ("its library has the function that installs its handlers", "begin"),
        ("its library has the function that removes its handlers", "end"),
        ("installing them replaces the system's handler of SIGTERM", "replaced"),
        ("Python does not see that, and still names its own handler", "unseen"),
        ("it installs its handlers once, however often it is asked to", "begun_once"),
        ("removing them does not bring this process's handler back", "ended"),
        ("it removes its handlers once, however often it is asked to", "ended_once"),
        ("importing it replaces sys.excepthook", "excepthook"),
        ("it keeps the excepthook that it replaced", "normal_excepthook"),
    ],
)
def test_ray_still_does_what_ray_signals_undoes(found: dict[str, Any], assumption: str, fact: str) -> None:
    assert found.get(fact), explained(assumption)


@pytest.mark.parametrize(
    ("assumption", "before", "ends_by"),
    [
        ("its handler of SIGTERM ends the process and does not call the handler that it replaced", "", signal.SIGTERM),
        ("its handler of SIGTERM aborts the process by an alarm if it cannot finish", HANG, signal.SIGABRT),
    ],
    ids=["ends", "aborts"],
)
def test_rays_handler_still_ends_the_process(assumption: str, before: str, ends_by: signal.Signals) -> None:
    read_end, write_end = os.pipe()
    try:
        command = [sys.executable, "-c", LOAD + before + END]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=write_end, timeout=60, check=False)
    finally:
        os.close(read_end)
        os.close(write_end)
    assert done.returncode == -ends_by, explained(assumption)
