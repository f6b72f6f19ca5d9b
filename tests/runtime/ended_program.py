"""A program for the tests, whose Ray ends before its schedulers. It prints the outcome of each call on a line.

Arguments: scheduler name, a server's URL, and how it ends: ``platform`` (the platform stops Fairlane's Ray), ``own``
(the program ends its own Ray, which it imported first, so that Ray would start by itself), ``failed`` (the scheduler's
start fails in Fairlane's Ray).
"""

import asyncio
import sys

import fairlane
from fairlane.runtime.platform import Platform

PROVIDER = "fairlane.providers.simulated:SimulatedProvider"


async def by_its_platform(config: fairlane.SchedulerConfig) -> None:
    """Stop the platform before its scheduler."""
    platform = Platform(config.server)
    await platform.start()
    scheduler = fairlane.Scheduler(config, PROVIDER, platform=platform)
    await scheduler.start()
    await platform.stop()
    await tell(scheduler)
    await scheduler.stop()
    await tell(scheduler)


async def by_the_program(config: fairlane.SchedulerConfig) -> None:
    """End a Ray that Fairlane did not start."""
    import ray  # noqa: PLC0415 - not in every case

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    scheduler = fairlane.Scheduler(config, PROVIDER)
    await scheduler.start()
    ray.shutdown()
    await tell(scheduler)
    await scheduler.stop()
    await tell(scheduler)


async def by_a_failed_start(config: fairlane.SchedulerConfig) -> None:
    """Use a scheduler that did not start."""
    scheduler = fairlane.Scheduler(config, "no.such:thing")
    try:
        await scheduler.start()
    except fairlane.RuntimeStartError as error:
        print(error.message.partition(" cannot")[0].partition(": ")[2])
    await tell(scheduler)


async def tell(scheduler: fairlane.Scheduler) -> None:
    """Print the errors of the calls that need the actors."""
    for operation in ("add_worker", "actor_pids"):
        try:
            print(await getattr(scheduler.operator, operation)())
        except fairlane.FairlaneError as error:
            print(f"{type(error).__name__}: {error.message}")


async def main() -> None:
    """Run in the chosen way, then print whether Ray is still initialised."""
    name, url, way = sys.argv[1:]
    config = fairlane.SchedulerConfig(name=name, server=fairlane.ServerConfig(url=url))
    await {"platform": by_its_platform, "own": by_the_program, "failed": by_a_failed_start}[way](config)
    import ray  # noqa: PLC0415 - after Fairlane has

    print("Ray is there" if ray.is_initialized() else "no Ray", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
