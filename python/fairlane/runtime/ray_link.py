"""The actor of a Ray worker, and the worker's connection to it.

In the actor runs the code that serves a subprocess worker's process; frames pass through Ray as bytes. The actor's
methods return at once, except for `FrameActor.receive`, which waits in a thread of its own.
"""

import asyncio
import contextlib
import os
import select
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

import ray
from ray import exceptions

from fairlane.errors import RuntimeStartError
from fairlane.runtime.process_watch import ProcessWatch
from fairlane.runtime.ray_actors import ActorProcess
from fairlane.workers.transports.exchange import Exchange
from fairlane.workers.transports.subprocess_child import Child

_RECEIVING: Final = "receiving"
"""The concurrency group of `receive`, so that no other method waits for it."""
_PIECE: Final = 2**20
_MOST: Final = 16 * _PIECE
_UNWIND_S: Final = 0.8
"""How long running calls may clean up at the end; less than the time after which the process ends by itself."""
_END_S: Final = 2.0
"""How long to wait for the end of a killed process. Ray needs 5 s for a stopped one, which is too long to wait."""


class FrameActor:
    """Executes calls until `end`, or until Ray's own process on its machine has ended."""

    def __init__(self) -> None:
        self._connection, self._there = socket.socketpair()
        self._child = Child(self._there, os.getppid())
        threading.Thread(target=self._serve, name="fairlane-calls", daemon=True).start()

    def process(self) -> ActorProcess:
        """Return the process that this is."""
        return ActorProcess.current()

    def send(self, frames: bytes) -> None:
        """Take frames."""
        self._connection.sendall(frames)

    def receive(self) -> bytes:
        """Wait for frames and return all that there are; empty once there will be no more."""
        pieces = [self._connection.recv(_PIECE)]
        while pieces[-1] and sum(map(len, pieces)) < _MOST and select.select([self._connection], [], [], 0)[0]:
            pieces.append(self._connection.recv(_PIECE))
        return b"".join(pieces)

    def end(self) -> None:
        """Cancel the running calls. If they have not ended after a second, the process ends."""
        self._connection.shutdown(socket.SHUT_WR)

    def _serve(self) -> None:
        with self._there:
            asyncio.run(self._child.serve())


class RayLink:
    """The connection to one actor. ``lost`` is called once, with the reason, if its process ends unless `end` did."""

    def __init__(self, actor: Any, lost: Callable[[str], None]) -> None:  # noqa: ANN401 - Ray's handle
        """Use `begin`."""
        self.exchange = Exchange(self._write)
        """Calls to it."""
        self._actor = actor
        self._lost = lost
        self._process: ActorProcess | None = None
        self._watch: ProcessWatch | None = None
        self._finished = False
        self._gone = asyncio.Event()
        self._receiving = asyncio.create_task(self._receive())

    @classmethod
    async def begin(cls, lost: Callable[[str], None], options: Mapping[str, object], timeout_s: float) -> Self:
        """Make an actor with these options of Ray's, and return when it takes calls.

        Raises:
            RuntimeStartError: there is no room for it within the time, or its process ended.
        """
        ours = {"max_restarts": 0, "max_task_retries": 0, "concurrency_groups": {_RECEIVING: 1}}
        remote: Any = ray.remote  # its types know less than it takes
        actor = remote(**options, **ours)(FrameActor).remote()
        link = cls(actor, lost)
        try:
            async with asyncio.timeout(timeout_s):
                await link._connect()
        except TimeoutError:
            await link.end()
            raise RuntimeStartError(f"Ray has not started its actor within {timeout_s:g} s: {dict(options)}") from None
        except (exceptions.RayError, ChildProcessError) as error:
            await link.end()
            raise RuntimeStartError("its actor died while starting") from error
        except BaseException:
            await link.end()
            raise
        return link

    @property
    def pid(self) -> int:
        """The process's id, on its machine; 0 before it is known."""
        return 0 if self._process is None else self._process.pid

    async def end(self) -> None:
        """End the process with all that runs in it. A second call does nothing."""
        self._finish("its process is being ended")
        if ray.is_initialized():  # else all actors have ended
            self._actor.end.remote()
            await asyncio.wait({self._receiving}, timeout=_UNWIND_S)
            ray.kill(self._actor, no_restart=True)
            if self._watch is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_END_S):
                        await self._gone.wait()
        self._receiving.cancel()
        if self._watch is not None:
            self._watch.close()

    async def _connect(self) -> None:
        process: ActorProcess = await self._actor.process.remote()
        self._process = process
        self._watch = process.watch(self._on_end)
        await self.exchange.ready

    async def _receive(self) -> None:
        """Feed frames to the exchange until there are no more. The process has ended then, or is about to."""
        receive = self._actor.receive.options(concurrency_group=_RECEIVING)
        with contextlib.suppress(exceptions.RayError):
            while piece := await receive.remote():
                self.exchange.feed(piece)
        self._lose()

    def _on_end(self) -> None:
        self._gone.set()
        self._lose()

    def _lose(self) -> None:
        if not self._finished:
            reason = f"its process {self.pid} has ended"
            self._lost(reason)
            self._finish(reason)

    def _finish(self, reason: str) -> None:
        self._finished = True
        self.exchange.finish(reason)

    def _write(self, data: bytes) -> None:
        self._actor.send.remote(data)
