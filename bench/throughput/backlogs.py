"""Measures the cost of a standing queue: dispatch calls with few and with many tasks waiting, and their memory.

Pools that differ only in how many tasks wait take turns. The tasks a call hands over are replaced by new ones
before the next call, so a queue keeps its length; no task that was handed over ever ends.
"""

import asyncio
from contextlib import AsyncExitStack

from bench.shared.platform import Platform, Progress
from bench.shared.session import ScenarioError
from bench.throughput.manual_pool import ManualPool, compare_dispatch, manual_pool
from bench.throughput.meter import memory_bytes, pending_frees
from bench.throughput.metrics import Backlog
from bench.throughput.scenario import ThroughputScenario

_LOOK_S = 0.02
_FREE_S = 60.0


async def backlogs(scenario: ThroughputScenario, platform: Platform, progress: Progress) -> list[Backlog]:
    """Fill a queue of every length for every number of tenants, time calls, and remove it all.

    Raises:
        ScenarioError: a submit was refused, or a queue did not keep its length.
        TimeoutError: the server does not free what was removed.
    """
    found = []
    for tenants in scenario.tenant_counts:
        found += await _of_tenants(scenario, platform, progress, tenants)
    return found


async def _of_tenants(
    scenario: ThroughputScenario, platform: Platform, progress: Progress, tenants: int
) -> list[Backlog]:
    pools: list[ManualPool] = []
    bytes_per_task = []
    async with AsyncExitStack() as stack:
        lengths = scenario.backlogs_of(tenants)
        for pending in lengths:
            progress(f"{pending:,} tasks waiting for {tenants:,} tenants")
            pool = await stack.enter_async_context(manual_pool(platform, f"backlog-{pending}"))
            await pool.open([f"tenant-{number:05}" for number in range(tenants)])
            bytes_per_task.append(await _fill(pool, pending))
            pools.append(pool)
        progress(f"one dispatch call of {tenants:,} tenants, by backlog")
        ratios = await compare_dispatch(pools, scenario.batches, scenario.backlog_calls)
        found = []
        for place, (pending, pool) in enumerate(zip(lengths, pools, strict=True)):
            waiting = await pool.pending()
            if waiting != pending:
                raise ScenarioError(f"{waiting} tasks wait, not {pending}")
            found.append(
                Backlog(
                    tenants=tenants,
                    pending=waiting,
                    bytes_per_task=bytes_per_task[place],
                    calls=[pool.point(batch) for batch in scenario.batches],
                    ratios=ratios[place],
                )
            )
    return found


async def _fill(pool: ManualPool, pending: int) -> float:
    """Let ``pending`` tasks wait; return the bytes that each takes."""
    await _freed(pool)
    before = await memory_bytes(pool.store)
    await pool.deal(pending)
    return (await memory_bytes(pool.store) - before) / pending


async def _freed(pool: ManualPool) -> None:
    """Wait until the memory of what was removed before is free."""
    async with asyncio.timeout(_FREE_S):
        while await pending_frees(pool.store):  # noqa: ASYNC110 - the server notifies no client
            await asyncio.sleep(_LOOK_S)
