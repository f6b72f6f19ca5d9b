"""The guard process: waits for the end of its standard input, then stops what its owner has left behind.

Run by `fairlane.embedded.guard` as a file, with the owner's pid as its argument. The lines it reads:

    watch pid <pid> <started>       one process; stopped after all others
    watch marker <NAME>=<value>     all processes with this entry in their environment
    watch directory <path>          all processes that write to a file in it; then the directory itself
    done                            the owner has stopped everything itself: exit

The parent-death signal cannot replace it: that signal comes when the thread that started the child ends, not the
process.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from fairlane.embedded.private_directory import is_within_private_directory, remove_private_directory
from fairlane.embedded.processes import ProcessId, identify, is_alive, send_signal

_TERM_GRACE_S = 1.0
_KILL_WAIT_S = 2.5
_POLL_S = 0.05


@dataclass(slots=True)
class Watched:
    """What the owner has registered so far."""

    processes: set[ProcessId] = field(default_factory=set)
    markers: set[tuple[str, str]] = field(default_factory=set)
    directories: set[Path] = field(default_factory=set)


def main(owner_pid: int) -> None:
    """Guard until the end of standard input or ``done``."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    # Import nothing later: a temporary environment may be gone from the disk by then.
    os.write(1, b"ready\n")
    os.close(1)
    watched = Watched()
    for line in sys.stdin.buffer:
        if line == b"done\n":
            return
        if line.endswith(b"\n"):
            note(watched, os.fsdecode(line[:-1]))
    clean_up(watched, spared={owner_pid, os.getpid()})


def note(watched: Watched, line: str) -> None:
    """Register what one line names. Unknown lines are ignored, since nobody reads an answer."""
    match line.split(" ", 2):
        case ["watch", "pid", text]:
            process = ProcessId.parse(text)
            if process is not None:
                watched.processes.add(process)
        case ["watch", "marker", text] if "=" in text:
            name, _, value = text.partition("=")
            watched.markers.add((name, value))
        case ["watch", "directory", text]:
            watched.directories.add(Path(text))


def clean_up(watched: Watched, *, spared: set[int]) -> None:
    """Stop everything watched, then remove the directories. Takes at most 7 s."""
    directories = [path for path in watched.directories if is_within_private_directory(path)]
    # The named processes, above all the server, end after the processes that use them.
    named = {process for process in watched.processes if process.pid not in spared and is_alive(process)}
    later = {process.pid for process in named}
    stop(lambda: find(watched.markers, directories, spared=spared | later))
    stop(lambda: filter(is_alive, named))
    for path in directories:
        remove_private_directory(path)


def stop(find_running: Callable[[], Iterable[ProcessId]]) -> None:
    """Send SIGTERM to every process found and, after a grace time, SIGKILL, until none is found any more."""
    monotonic = time.monotonic  # noqa: TID251 - a real process's real grace time
    begin = monotonic()
    known: set[ProcessId] = set()
    nothing_found = 0
    while True:
        # Remember each process found: it may overwrite its environment or close its files before it ends.
        running = {process for process in known if is_alive(process)} | set(find_running())
        nothing_found = 0 if running else nothing_found + 1
        passed_s = monotonic() - begin
        # Twice, because the first look can miss a child that is forked meanwhile.
        if nothing_found == 2 or passed_s > _TERM_GRACE_S + _KILL_WAIT_S:
            return
        for process in running:
            if passed_s > _TERM_GRACE_S:
                send_signal(process, signal.SIGKILL)
            elif process not in known:
                send_signal(process, signal.SIGTERM)
        known |= running
        if running:
            time.sleep(_POLL_S)


def find(markers: set[tuple[str, str]], directories: list[Path], *, spared: set[int]) -> Iterator[ProcessId]:
    """Yield this user's processes that carry a marker or write to a directory."""
    prefixes = tuple(f"{path}/" for path in directories)
    for pid in psutil.pids():
        if pid in spared:
            continue
        # Identified first: if another process gets the pid meanwhile, no signal is sent to it.
        identity = identify(pid)
        try:
            process = psutil.Process(pid)
            if identity is None or process.uids().real != os.getuid():
                continue
            environment = process.environ() if markers else {}
        except (psutil.Error, OSError):
            continue
        if any(environment.get(name) == value for name, value in markers) or _writes_to(pid, prefixes):
            yield identity


def _writes_to(pid: int, prefixes: tuple[str, ...]) -> bool:
    """Say whether the process has a file below one of the prefixes open for writing.

    Reading does not count: somebody may be reading a log. Always False without /proc.
    """
    if not prefixes:
        return False
    try:
        with os.scandir(f"/proc/{pid}/fd") as descriptors:
            for descriptor in descriptors:
                # The link's own mode says how the file was opened.
                writable = descriptor.stat(follow_symlinks=False).st_mode & 0o200
                if writable and os.readlink(descriptor.path).startswith(prefixes):
                    return True
    except OSError:
        return False
    return False


if __name__ == "__main__":
    main(owner_pid=int(sys.argv[1]))
