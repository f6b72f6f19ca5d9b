"""Measures single calls of the store, without workers: dispatch with and without parked tenants, and batching."""

from statistics import median

from bench.shared.platform import Platform, Progress
from bench.throughput.manual_pool import COST, INCARNATION, compare_dispatch, manual_pool, submission
from bench.throughput.metrics import DispatchPoint
from bench.throughput.scenario import ThroughputScenario
from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.task import TaskRef
from fairlane.store.messages import Settlement
from fairlane.store.store import Store

_QUEUE = 1_000
"""Tasks waiting in each pool of which some are parked, and of the one beside it."""


async def dispatch_calls(
    scenario: ThroughputScenario, platform: Platform, progress: Progress
) -> tuple[list[DispatchPoint], dict[str, float | None]]:
    """Time dispatch with few tenants and with nearly all parked, taking turns.

    Returns:
        What the calls took; and by batch, the median ratio of a call with tenants parked to the one beside it without.

    Raises:
        ScenarioError: a submit was refused, or tenants are not parked.
    """
    progress("one dispatch call, many tenants parked")
    batches = scenario.batches
    async with manual_pool(platform, "few") as few, manual_pool(platform, "parked") as many:
        await many.park(scenario.parked_tenants)
        for pool in (few, many):
            await pool.open([f"free-{number}" for number in range(scenario.few_tenants)])
            await pool.deal(_QUEUE)
        _, ratios = await compare_dispatch((few, many), batches, scenario.dispatch_calls)
        return [pool.point(batch) for batch in batches for pool in (few, many)], ratios


async def batching(scenario: ThroughputScenario, platform: Platform, progress: Progress) -> dict[str, float]:
    """Return tasks per second through submit, dispatch, start and settle by one caller, by batch size.

    Each is the median of turns in which as many tasks go one way and then the other.
    """
    progress("batches of one against large ones")
    large = max(scenario.batches)
    speeds: dict[int, list[float]] = {size: [] for size in scenario.batches}
    async with manual_pool(platform, "cycle") as pool:
        await pool.store.put_tenants({"cycle": TenantConfig()})
        cursor = await _cycle(pool.store, large, cursor=0, first=0)
        done = large
        for _ in range(scenario.cycle_tasks // large):
            for size in scenario.batches:
                began_s = SYSTEM_CLOCK.monotonic_s()
                for _ in range(large // size):
                    cursor = await _cycle(pool.store, size, cursor=cursor, first=done)
                    done += size
                speeds[size].append(large / (SYSTEM_CLOCK.monotonic_s() - began_s))
    return {str(size): median(found) for size, found in speeds.items()}


async def _cycle(store: Store, size: int, *, cursor: int, first: int) -> int:
    """Take ``size`` tasks through their life, each step one call; return the new cursor."""
    refs = [TaskRef("cycle", f"task-{number}") for number in range(first, first + size)]
    await store.submit([submission(ref) for ref in refs], "bench-client")
    await store.dispatch([(INCARNATION, size)], size)
    started = await store.start(INCARNATION, cursor, size)
    if len(started.tasks) != size:
        raise RuntimeError(f"{len(started.tasks)} of {size} tasks came back from start")
    await store.settle(
        INCARNATION, [Settlement(task.ref, task.fence, Outcome.COMPLETED, COST) for task in started.tasks]
    )
    return max(task.fence for task in started.tasks)
