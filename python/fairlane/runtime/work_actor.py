"""The actor of a Ray worker: lets what serves a subprocess worker's process live in it, and passes its frames on.

Its methods return at once, but for the one that waits in a thread of its own. Ray sees calls that carry bytes, and no
work.
"""

import asyncio
import os
import select
import socket
import threading
from dataclasses import dataclass
from typing import Final

import ray

from fairlane.embedded.processes import ProcessId, identify
from fairlane.workers.transports.subprocess_child import Child

RECEIVING: Final = "receiving"
"""The concurrency group of `receive`, so that no other method waits for it."""
_PIECE: Final = 2**20
_MOST: Final = 16 * _PIECE


@dataclass(frozen=True, slots=True)
class Home:
    """Where an actor lives: its process, and Ray's name of the machine that has it."""

    process: ProcessId
    node: str


class WorkActor:
    """Executes calls, until it is told to end, or Ray's own process on its machine has ended."""

    def __init__(self) -> None:
        self._connection, self._there = socket.socketpair()
        self._child = Child(self._there, os.getppid())
        threading.Thread(target=self._serve, name="fairlane-calls", daemon=True).start()

    def home(self) -> Home:
        """Return where it lives."""
        process = identify(os.getpid()) or ProcessId(os.getpid(), "")
        return Home(process, ray.get_runtime_context().get_node_id())

    def send(self, frames: bytes) -> None:
        """Take frames."""
        self._connection.sendall(frames)

    def receive(self) -> bytes:
        """Wait for frames and return what there is; empty once there will be no more."""
        pieces = [self._connection.recv(_PIECE)]
        while pieces[-1] and sum(map(len, pieces)) < _MOST and select.select([self._connection], [], [], 0)[0]:
            pieces.append(self._connection.recv(_PIECE))
        return b"".join(pieces)

    def end(self) -> None:
        """Cancel what runs. If that has not ended after a second, the process does."""
        self._connection.shutdown(socket.SHUT_WR)

    def _serve(self) -> None:
        with self._there:
            asyncio.run(self._child.serve())
