"""The connection to the actor of a Ray worker: made, used, seen to end."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

import ray
from ray import exceptions

from fairlane.errors import RuntimeStartError
from fairlane.runtime.process_watch import ProcessWatch
from fairlane.runtime.work_actor import RECEIVING, Home, WorkActor
from fairlane.workers.transports.exchange import Exchange

UNWIND_S: Final = 0.8
"""How long what runs may clean up at the end; less than after which the process would end by itself."""
END_S: Final = 2.0
"""How long the end of a killed process is waited for. One that is stopped takes Ray 5 s, which nobody waits for."""


class WorkLink:
    """One actor. ``lost`` is called once, with the reason, if its process ends without having been told to."""

    def __init__(self, actor: Any, lost: Callable[[str], None]) -> None:  # noqa: ANN401 - Ray's handle
        """Use `begin`."""
        self.exchange = Exchange(self._write)
        """Calls to it."""
        self._actor = actor
        self._lost = lost
        self._home: Home | None = None
        self._watch: ProcessWatch | None = None
        self._over = False
        self._gone = asyncio.Event()
        self._receiving = asyncio.create_task(self._receive())

    @classmethod
    async def begin(cls, lost: Callable[[str], None], options: Mapping[str, object], timeout_s: float) -> Self:
        """Make an actor with these options of Ray's, and return when it takes calls.

        Raises:
            RuntimeStartError: there is no room for it within the time, or its process ended.
        """
        ours = {"max_restarts": 0, "max_task_retries": 0, "concurrency_groups": {RECEIVING: 1}}
        remote: Any = ray.remote  # its types know less than it takes
        actor = remote(**options, **ours)(WorkActor).remote()
        link = cls(actor, lost)
        try:
            async with asyncio.timeout(timeout_s):
                await link._come_up()
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
        return 0 if self._home is None else self._home.process.pid

    async def end(self) -> None:
        """End the process, whatever runs in it, and all answers. A second call does nothing."""
        self._finish("its process is being ended")
        if ray.is_initialized():  # else all actors have ended
            self._actor.end.remote()
            await asyncio.wait({self._receiving}, timeout=UNWIND_S)
            ray.kill(self._actor, no_restart=True)
            if self._watch is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(END_S):
                        await self._gone.wait()
        self._receiving.cancel()
        if self._watch is not None:
            self._watch.close()

    async def _come_up(self) -> None:
        home = self._home = await self._actor.home.remote()
        if home.node == ray.get_runtime_context().get_node_id():
            self._watch = ProcessWatch(home.process, self._see_end)
        await self.exchange.ready

    async def _receive(self) -> None:
        """Take in what comes, until nothing does; the process ends with it, in whatever order."""
        receive = self._actor.receive.options(concurrency_group=RECEIVING)
        with contextlib.suppress(exceptions.RayError):
            while piece := await receive.remote():
                self.exchange.feed(piece)
        self._lose()

    def _see_end(self) -> None:
        self._gone.set()
        self._lose()

    def _lose(self) -> None:
        if not self._over:
            reason = f"its process {self.pid} has ended"
            self._lost(reason)
            self._finish(reason)

    def _finish(self, reason: str) -> None:
        self._over = True
        self.exchange.finish(reason)

    def _write(self, data: bytes) -> None:
        self._actor.send.remote(data)
