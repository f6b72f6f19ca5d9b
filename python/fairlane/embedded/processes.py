"""Identifies processes by pid and start, because the system reuses pids.

The owner, the data lock and the guard use it. It sends signals only to a process whose start still matches.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

_STATE, _STARTED = 0, 19  # positions in /proc/<pid>/stat after the command name


@dataclass(frozen=True, slots=True)
class ProcessId:
    """One process, even after another process has got its pid.

    ``started`` is opaque: only compare it. On Linux it counts clock ticks since boot, not seconds since the epoch,
    which shift when the wall clock is set.
    """

    pid: int
    started: str

    def __str__(self) -> str:
        return f"{self.pid} {self.started}"

    @classmethod
    def parse(cls, text: str) -> "ProcessId | None":
        """Read what ``str`` has written; None if it is something else."""
        match text.split():
            case [pid, started] if pid.isascii() and pid.isdigit():
                return cls(int(pid), started)
            case _:
                return None


def identify(pid: int) -> ProcessId | None:
    """Return the process that has this pid now; None if there is none, or only a zombie."""
    if sys.platform == "linux":
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                stat = file.read()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return None
        # The command name is in parentheses and may itself hold spaces and parentheses.
        fields = stat[stat.rindex(b")") + 2 :].split()
        if fields[_STATE] in (b"Z", b"X"):
            return None
        return ProcessId(pid, fields[_STARTED].decode())

    import psutil  # noqa: PLC0415 - not needed on Linux

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return ProcessId(pid, repr(process.create_time()))
    except psutil.Error:
        return None


def is_alive(process: ProcessId) -> bool:
    """Say whether exactly this process still runs."""
    return identify(process.pid) == process


def send_signal(process: ProcessId, signum: signal.Signals) -> None:
    """Signal exactly this process. Does nothing if it has ended, even if another process has its pid now."""
    if is_alive(process):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signum)


def wait_until(condition: Callable[[], bool], timeout_s: float, *, poll_s: float = 0.01) -> bool:
    """Poll ``condition`` until it is True, at least once. Returns whether it was within ``timeout_s``."""
    monotonic = time.monotonic  # noqa: TID251 - waits for the operating system, which knows no injected clock
    deadline = monotonic() + timeout_s
    while not condition():
        if monotonic() >= deadline:
            return False
        time.sleep(poll_s)
    return True
