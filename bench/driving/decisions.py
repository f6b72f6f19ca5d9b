"""Measures single calls of the store, without workers: dispatch with and without parked tenants, and batching."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bench.driving.clean import remove
from bench.driving.meter import data_bytes
from bench.figures import DispatchPoint
from bench.platform import Platform, Progress
from bench.scenario import ThroughputScenario
from fairlane import _core
from fairlane.clock import RANDOM_IDS, SYSTEM_CLOCK
from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.task import TaskRef
from fairlane.lifecycle.payload import encode, fingerprint
from fairlane.store.messages import Settlement, Submission
from fairlane.store.store import Store

_COST = 1_000
_BATCH = 256
_INCARNATION = "bench-hands"
_POOL = PoolConfig(slots=1_000_000, quantum_units=_COST, lease_ms=3_600_000, retention_ms=1_000)
_PAYLOAD = encode({"prompt": "What does a decision cost?"})
_FINGERPRINT = fingerprint(_PAYLOAD, _COST, 100, 0)


@dataclass
class _Bench:
    """A pool with one tireless worker that the caller plays."""

    store: Store
    parked: int = 0
    free: int = 0
    submitted: int = 0
    micros: dict[int, list[float]] = field(default_factory=dict)

    async def submit(self, tenant: str, count: int) -> None:
        for first in range(0, count, _BATCH):
            batch = [self._submission(tenant, number) for number in range(first, min(first + _BATCH, count))]
            await self.store.submit(batch, "bench-client")
            self.submitted += len(batch)

    def _submission(self, tenant: str, number: int) -> Submission:
        return Submission(TaskRef(tenant, f"task-{number}"), _COST, _PAYLOAD, _FINGERPRINT)

    async def park(self, count: int) -> None:
        """Register tenants of one slot, use it, and let each be parked with another task waiting."""
        tenants = [f"parked-{number:05}" for number in range(count)]
        await self.store.put_tenants(dict.fromkeys(tenants, TenantConfig(slots=1)))
        for first in range(0, count, _BATCH // 2):
            some = tenants[first : first + _BATCH // 2]
            await self.store.submit(
                [self._submission(each, number) for each in some for number in (0, 1)], "bench-client"
            )
        while (await self.store.dispatch([(_INCARNATION, _BATCH)], _BATCH)).runnable:
            pass
        self.parked = count

    async def time_dispatch(self, batch: int) -> None:
        """Take the server's own time of one call; a sample during which others ran scripts is dropped."""
        calls, micros = await self._scripts()
        placed = (await self.store.dispatch([(_INCARNATION, batch)], batch)).placed
        calls_after, micros_after = await self._scripts()
        if placed == batch and calls_after == calls + 1:
            self.micros.setdefault(batch, []).append(float(micros_after - micros))

    async def _scripts(self) -> tuple[int, int]:
        stats = await self.store.info("commandstats")
        numbers = dict(pair.split("=", 1) for pair in stats["cmdstat_evalsha"].split(","))
        return int(numbers["calls"]), int(numbers["usec"])


@asynccontextmanager
async def _pool(platform: Platform, purpose: str) -> AsyncIterator[_Bench]:
    async with Store(platform.endpoint, f"bench-{purpose}-{RANDOM_IDS.new_id()[:8]}") as store:
        await store.put_pool(_POOL)
        try:
            await store.register("bench", _INCARNATION, 1_000_000)
            yield _Bench(store)
        finally:
            await remove(store)


async def dispatch_calls(
    scenario: ThroughputScenario, platform: Platform, progress: Progress
) -> tuple[list[DispatchPoint], float]:
    """Time dispatch with few tenants and with nearly all parked, taking turns; also bytes per pending task."""
    progress("one dispatch call, many tenants parked")
    batches = scenario.batches
    backlog = (scenario.dispatch_calls + 10) * sum(batches)
    async with _pool(platform, "few") as few, _pool(platform, "parked") as many:
        await many.park(scenario.parked_tenants)
        bytes_before = await data_bytes(many.store)
        for bench in (few, many):
            tenants = [f"free-{number}" for number in range(scenario.few_tenants)]
            bench.free = len(tenants)
            await bench.store.put_tenants(dict.fromkeys(tenants, TenantConfig()))
            for tenant in tenants:
                await bench.submit(tenant, -(-backlog // len(tenants)))
        bytes_after = await data_bytes(many.store)
        for _ in range(scenario.dispatch_calls):
            for batch in batches:
                for bench in (few, many):
                    await bench.time_dispatch(batch)
        points = [_point(bench, batch) for batch in batches for bench in (few, many)]
        return points, (bytes_after - bytes_before) / (few.submitted + many.submitted)


def _point(bench: _Bench, batch: int) -> DispatchPoint:
    samples = bench.micros.get(batch, [])
    found = _core.percentiles(samples, [50.0, 99.0]) or [0.0, 0.0]
    return DispatchPoint(
        tenants=bench.free + bench.parked,
        parked=bench.parked,
        batch=batch,
        calls=len(samples),
        p50_us=found[0],
        p99_us=found[1],
    )


async def batching(scenario: ThroughputScenario, platform: Platform, progress: Progress) -> dict[str, float]:
    """Return tasks per second through submit, dispatch, start and settle by one caller, by batch size."""
    progress("batches of one against large ones")
    small, large = scenario.batches
    turns = 4
    elapsed_s = dict.fromkeys(scenario.batches, 0.0)
    async with _pool(platform, "cycle") as bench:
        await bench.store.put_tenants({"cycle": TenantConfig()})
        cursor = await _cycle(bench.store, large, cursor=0, first=0)
        done = large
        for _ in range(turns):
            for size in (small, large):
                began_s = SYSTEM_CLOCK.monotonic_s()
                for _ in range(scenario.cycle_tasks // turns // size):
                    cursor = await _cycle(bench.store, size, cursor=cursor, first=done)
                    done += size
                elapsed_s[size] += SYSTEM_CLOCK.monotonic_s() - began_s
    return {
        str(size): scenario.cycle_tasks // turns // size * size * turns / seconds for size, seconds in elapsed_s.items()
    }


async def _cycle(store: Store, size: int, *, cursor: int, first: int) -> int:
    """Take ``size`` tasks through their life, each step one call; return the new cursor."""
    refs = [TaskRef("cycle", f"task-{number}") for number in range(first, first + size)]
    await store.submit([Submission(ref, _COST, _PAYLOAD, _FINGERPRINT) for ref in refs], "bench-client")
    await store.dispatch([(_INCARNATION, size)], size)
    started = await store.start(_INCARNATION, cursor, size)
    if len(started.tasks) != size:
        raise RuntimeError(f"{len(started.tasks)} of {size} tasks came back from start")
    await store.settle(
        _INCARNATION, [Settlement(task.ref, task.fence, Outcome.COMPLETED, _COST) for task in started.tasks]
    )
    return max(task.fence for task in started.tasks)
