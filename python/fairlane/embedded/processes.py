"""Which process is which: a pid is used again, a pid together with its start is not.

Used by the owner, by the data lock and by the guard. Sends signals only to a process whose start still
matches.
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
    """One process, now and after its pid has been given to another.

    ``started`` is opaque and only ever compared. On Linux it counts clock ticks since boot and not seconds
    since the epoch, because the latter shifts when the wall clock is set.
    """

    pid: int
    started: str

    def __str__(self) -> str:
        return f"{self.pid} {self.started}"

    @classmethod
    def parse(cls, text: str) -> "ProcessId | None":
        """Read what ``str`` wrote; None if it is something else."""
        match text.split():
            case [pid, started] if pid.isascii() and pid.isdigit():
                return cls(int(pid), started)
            case _:
                return None


def identify(pid: int) -> ProcessId | None:
    """Return the process that has this pid now; None if there is none or only a zombie."""
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
    """Whether exactly this process still runs."""
    return identify(process.pid) == process


def send_signal(process: ProcessId, signum: signal.Signals) -> None:
    """Signal exactly this process; nothing happens if it has ended, whoever has its pid by now."""
    if is_alive(process):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signum)


def wait_until(condition: Callable[[], bool], timeout_s: float, *, poll_s: float = 0.01) -> bool:
    """Poll until ``condition`` holds, at least once; return whether it did within ``timeout_s``."""
    monotonic = time.monotonic  # noqa: TID251 - waits for the operating system, which knows no injected clock
    deadline = monotonic() + timeout_s
    while not condition():
        if monotonic() >= deadline:
            return False
        time.sleep(poll_s)
    return True
