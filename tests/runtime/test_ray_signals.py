"""Handlers of this process that Ray's C++ code replaced are restored."""

import ctypes
import os
import signal
from types import SimpleNamespace

import pytest

from fairlane.runtime import ray_signals

C = ctypes.CDLL(None)
C.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
IGNORE = 1
UNKNOWN_RAY = SimpleNamespace(_raylet=SimpleNamespace(__file__=None))
"""A Ray whose library lacks the symbols that are looked for."""


@pytest.fixture
def received():
    """The signals that reached Python's handlers."""
    received: list[int] = []
    numbers = (signal.SIGTERM, signal.SIGALRM)
    before = [signal.signal(number, lambda number, _: received.append(number)) for number in numbers]
    yield received
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("connecting", [True, False])
def test_a_handler_of_this_process_is_restored(received, connecting):
    with ray_signals.kept(UNKNOWN_RAY, connecting=connecting):
        C.signal(signal.SIGTERM, IGNORE)
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == []
    os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM]


def test_an_abort_under_way_is_cancelled(received):
    with ray_signals.kept(UNKNOWN_RAY, connecting=True):
        C.signal(signal.SIGALRM, IGNORE)
        signal.alarm(60)
    assert signal.alarm(0) == 0


def test_an_alarm_of_this_process_is_kept(received):
    signal.alarm(60)
    with ray_signals.kept(UNKNOWN_RAY, connecting=True):
        pass
    assert signal.alarm(0) > 0


def test_a_handler_that_this_process_sets_meanwhile_is_kept(received):
    with ray_signals.kept(UNKNOWN_RAY, connecting=True):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGTERM)
    assert received == []


def test_the_handlers_are_also_kept_after_an_error(received):
    def connect() -> None:
        with ray_signals.kept(UNKNOWN_RAY, connecting=True):
            C.signal(signal.SIGTERM, IGNORE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        connect()
    os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM]


def test_rays_way_to_show_a_last_error_is_replaced_and_the_users_is_not(monkeypatch):
    def rays(*_):
        """Ray's."""

    def normal(*_):
        """Python's."""

    ray = SimpleNamespace(_private=SimpleNamespace(worker=SimpleNamespace()))
    ray._private.worker.custom_excepthook, ray._private.worker.normal_excepthook = rays, normal
    monkeypatch.setattr("sys.excepthook", rays)
    ray_signals.end_excepthook(ray)
    assert ray_signals.sys.excepthook is normal
    monkeypatch.setattr("sys.excepthook", print)
    ray_signals.end_excepthook(ray)
    assert ray_signals.sys.excepthook is print
