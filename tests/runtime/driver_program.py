"""A user's program for the tests: it starts a scheduler, prints a line, and runs until its input ends.

Arguments: scheduler name; and, optionally, a server's URL.
"""

import asyncio
import json
import signal
import sys

import fairlane


async def main() -> None:
    name, *url = sys.argv[1:]
    config = fairlane.SchedulerConfig(
        name=name,
        tenants={"acme": fairlane.TenantConfig()},
        server=fairlane.ServerConfig(url=url[0] if url else None),
    )
    print("starting", flush=True)
    async with fairlane.Scheduler(config, provider="fairlane.providers.simulated:SimulatedProvider") as scheduler:
        handle = await scheduler.submit("acme", {"echo": "done"}, cost=10)
        print(json.dumps([await handle.result(timeout_s=30), await scheduler.operator.actor_pids()]), flush=True)
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin, ended.set)
        await ended.wait()
    print("stopped", flush=True)


if __name__ == "__main__":
    # A shell that runs the tests in the background ignores Ctrl-C, and this program would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        print("interrupted", flush=True)
