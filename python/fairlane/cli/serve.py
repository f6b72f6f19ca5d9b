"""``fairlane serve``: a scheduler as a service."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import typer

from fairlane.cli.journal import Journal
from fairlane.config import SchedulerConfig
from fairlane.errors import StoreError
from fairlane.runtime.dashboard import invitation
from fairlane.runtime.platform import Platform
from fairlane.runtime.scheduler import Scheduler
from fairlane.store.store import Store

_log = logging.getLogger(__name__)


async def serve(config: SchedulerConfig, provider: str) -> int:
    """Run until SIGINT or SIGTERM, then stop gracefully. A second signal stops without waiting for running tasks.

    Returns 0. If the signal came before everything was ready: 130 for SIGINT, 143 for SIGTERM.
    """
    return await _Service(config, provider).run()


class _Service:
    def __init__(self, config: SchedulerConfig, provider: str) -> None:
        self._platform = Platform(config.server, config.ray, name=config.name)
        self._scheduler = Scheduler(config, provider, platform=self._platform)
        self._asked = asyncio.Event()
        self._starting: asyncio.Task[None] | None = None
        self._interrupted_by = signal.SIGINT
        self._hurrying: asyncio.Task[None] | None = None

    async def run(self) -> int:
        self._listen()
        try:
            async with AsyncExitStack() as stack:
                self._starting = asyncio.create_task(self._start(stack))
                try:
                    await self._starting
                finally:
                    self._starting = None
                await self._announce()
                await self._asked.wait()
                typer.echo("fairlane: stopping; signal again to stop without waiting for running tasks", err=True)
        except asyncio.CancelledError:
            typer.echo("fairlane: interrupted while starting; nothing is left running", err=True)
            return 128 + self._interrupted_by
        return 0

    async def _start(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._platform)
        await stack.enter_async_context(self._journal())
        await self._scheduler.start()
        stack.push_async_callback(self._stop)

    async def _stop(self) -> None:
        await self._scheduler.stop()
        if self._hurrying is not None:
            await asyncio.gather(self._hurrying, return_exceptions=True)

    @asynccontextmanager
    async def _journal(self) -> AsyncIterator[None]:
        """Log how tasks end until the scheduler has stopped, if the log level asks for it."""
        config = self._scheduler.config
        if not logging.getLogger(Journal.__module__).isEnabledFor(logging.INFO):
            yield
            return
        if config.pool.event_limit == 0:
            _log.info("pool.event_limit = 0: there are no events, so the ends of tasks are not logged")
            yield
            return
        async with Store(self._platform.endpoint, config.name) as store:
            journal = Journal(store)
            await journal.begin()
            following = asyncio.create_task(journal.follow())
            try:
                yield
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
                try:
                    await journal.finish()
                except StoreError as error:
                    _log.warning("could not read the last events: %s", error)

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_signal, number)

    def _on_signal(self, number: signal.Signals) -> None:
        if self._starting is not None:
            self._interrupted_by = number
            logging.getLogger("fairlane.workers").setLevel(logging.ERROR)  # else it logs each start that this ends
            self._starting.cancel()
        elif not self._asked.is_set():
            self._asked.set()
        elif self._hurrying is None:
            self._hurrying = asyncio.create_task(self._scheduler.stop_now())

    async def _announce(self) -> None:
        scheduler = self._scheduler
        pids = ", ".join(f"{name} {pid}" for name, pid in (await scheduler.operator.actor_pids()).items())
        typer.echo(f"fairlane: scheduler {scheduler.config.name} is ready on {self._platform.endpoint.shown} ({pids})")
        for line in invitation(self._platform.ray):
            typer.echo(f"fairlane: {line}")
