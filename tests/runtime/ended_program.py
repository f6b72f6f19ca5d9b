"""A program, run by the tests, whose Ray ends before its schedulers. Each line that it prints is what came of a call.

Arguments: scheduler name, a server's URL, and how it ends: ``platform`` (Fairlane's Ray, by its platform), ``own``
(a Ray of the program's, which has imported Ray first, so that it would start by itself), ``failed`` (a start that
fails, in Fairlane's Ray).
"""

import asyncio
import sys

import fairlane
from fairlane.runtime.platform import Platform

PROVIDER = "fairlane.providers.simulated:SimulatedProvider"


async def by_its_platform(config: fairlane.SchedulerConfig) -> None:
    """Stop the platform before the scheduler that is on it."""
    platform = Platform(config.server)
    await platform.start()
    scheduler = fairlane.Scheduler(config, PROVIDER, platform=platform)
    await scheduler.start()
    await platform.stop()
    await tell(scheduler)
    await scheduler.stop()
    await tell(scheduler)


async def by_the_program(config: fairlane.SchedulerConfig) -> None:
    """End a Ray that Fairlane did not begin."""
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
    """Run one way, and say whether a Ray is there after it."""
    name, url, way = sys.argv[1:]
    config = fairlane.SchedulerConfig(name=name, server=fairlane.ServerConfig(url=url))
    await {"platform": by_its_platform, "own": by_the_program, "failed": by_a_failed_start}[way](config)
    import ray  # noqa: PLC0415 - after Fairlane has

    print("Ray is there" if ray.is_initialized() else "no Ray", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
