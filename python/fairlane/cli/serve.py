"""``fairlane serve``: a scheduler as a service."""

import asyncio
import signal

import typer

from fairlane.config import SchedulerConfig
from fairlane.runtime.scheduler import Scheduler


async def serve(config: SchedulerConfig, provider: str) -> int:
    """Run until SIGINT or SIGTERM, then stop gracefully; a second signal does not wait for what runs.

    Returns 0, or 130 if the signal came before everything was ready.
    """
    return await _Service(Scheduler(config, provider)).run()


class _Service:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._asked = asyncio.Event()
        self._starting: asyncio.Task[None] | None = None
        self._hurrying: asyncio.Task[None] | None = None

    async def run(self) -> int:
        self._listen()
        self._starting = asyncio.create_task(self._scheduler.start())
        try:
            await self._starting
        except asyncio.CancelledError:
            typer.echo("fairlane: interrupted while starting; nothing is left running", err=True)
            return 130
        finally:
            self._starting = None
        self._listen()  # Ray has put its own SIGTERM handler in place
        await self._announce()
        await self._asked.wait()
        typer.echo("fairlane: stopping; once more to not wait for running tasks", err=True)
        await self._scheduler.stop()
        if self._hurrying is not None:
            await asyncio.gather(self._hurrying, return_exceptions=True)
        return 0

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_signal)

    def _on_signal(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
        elif not self._asked.is_set():
            self._asked.set()
        elif self._hurrying is None:
            self._hurrying = asyncio.create_task(self._scheduler.stop_now())

    async def _announce(self) -> None:
        scheduler = self._scheduler
        pids = ", ".join(f"{name} {pid}" for name, pid in (await scheduler.actor_pids()).items())
        endpoint = scheduler.platform.endpoint
        typer.echo(f"fairlane: scheduler {scheduler.config.name} is ready on {endpoint.shown} ({pids})")
