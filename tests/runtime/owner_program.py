"""A user's program for the tests: it ends at SIGTERM in its own way, and prints its progress.

Arguments: scheduler name, a server's URL, and how it ends: ``loop`` (an event loop's handler), ``sync`` (a Python
handler that stops a `SyncScheduler`), ``none``.
"""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import fairlane

PROVIDER = "fairlane.providers.simulated:SimulatedProvider"


def say(text: str) -> None:
    """Print a line now."""
    print(text, flush=True)


def announced(text: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of Ray so that it prints a line when it begins."""

    def wrapped(*arguments: object, **options: object) -> object:
        say(text)
        return function(*arguments, **options)

    return wrapped


def tell_of_ray() -> None:
    """Have Ray print a line when its C++ code begins to connect the process, and when the process is disconnected."""
    import ray._private.node as node  # noqa: PLC0415 - as late as Fairlane does
    import ray._raylet as raylet  # noqa: PLC0415

    raylet.CoreWorker = announced("connecting", raylet.CoreWorker)
    node.Node.kill_all_processes = announced("disconnected", node.Node.kill_all_processes)


async def with_a_loop(config: fairlane.SchedulerConfig, *, handles: bool) -> None:
    """Run until SIGTERM, which may come at any time, and then stop."""
    ended = asyncio.Event()
    if handles:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: (say("terminating"), ended.set()))
    async with fairlane.Scheduler(config, provider=PROVIDER):
        say("up")
        await ended.wait()


def without_one(config: fairlane.SchedulerConfig) -> None:
    """The same with a `SyncScheduler`. The handler stops it, even while it starts or stops."""
    scheduler = fairlane.SyncScheduler(config, PROVIDER)
    ended = threading.Event()

    def end(*_: object) -> None:
        say("terminating")
        scheduler.stop()
        ended.set()

    signal.signal(signal.SIGTERM, end)
    try:
        scheduler.start()
    except fairlane.RuntimeStartError as error:
        say(error.message)
    else:
        say("up")
        ended.wait()


if __name__ == "__main__":
    name, url, way = sys.argv[1:]
    config = fairlane.SchedulerConfig(name=name, server=fairlane.ServerConfig(url=url))
    if way != "none":
        tell_of_ray()
    if way == "sync":
        without_one(config)
    else:
        asyncio.run(with_a_loop(config, handles=way == "loop"))
    say("stopped")
