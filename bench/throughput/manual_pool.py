"""A pool whose only worker the caller plays, for timing single calls of the store."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from statistics import median
from typing import Final

from bench.shared.platform import Platform
from bench.shared.session import ScenarioError, fresh_name
from bench.throughput.metrics import DispatchPoint
from fairlane import _core
from fairlane.config import PoolConfig, TenantConfig
from fairlane.domain.task import TaskRef
from fairlane.lifecycle.payload import encode, fingerprint
from fairlane.store.messages import Submission, SubmitStatus
from fairlane.store.store import Store

COST: Final = 1_000
INCARNATION: Final = "bench-manual"
_BATCH = 256
_AT_ONCE = 4
"""Batches under way, so that the server works on one while another is made."""
_POOL = PoolConfig(slots=1_000_000, quantum_units=COST, lease_ms=3_600_000, retention_ms=1_000)
_PAYLOAD = encode({"prompt": "What does a decision cost?"})
_FINGERPRINT = fingerprint(_PAYLOAD, COST, 100, 0)


def submission(ref: TaskRef) -> Submission:
    """Return a task as the store takes it; all are alike."""
    return Submission(ref, COST, _PAYLOAD, _FINGERPRINT)


@dataclass
class ManualPool:
    """The pool, and how long dispatch calls took in it. Its worker has as many slots as the pool."""

    store: Store
    tenants: int = 0
    parked: int = 0
    submitted: int = 0
    micros: dict[int, list[float]] = field(default_factory=dict)
    """Server time of each dispatch call that was timed, by the size of its batch."""
    _turns: Iterator[str] = field(default_factory=lambda: iter(()))

    async def open(self, tenants: Sequence[str]) -> None:
        """Register tenants, to whom tasks are dealt in turn."""
        await self.store.put_tenants(dict.fromkeys(tenants, TenantConfig()))
        self.tenants += len(tenants)
        self._turns = cycle(tenants)

    async def deal(self, count: int) -> None:
        """Submit tasks, one for each tenant in turn, starting after the last deal's tenant.

        Raises:
            ScenarioError: one was refused.
        """
        refs = [
            TaskRef(each, f"task-{number}") for number, each in enumerate(islice(self._turns, count), self.submitted)
        ]
        await self._submit_all(refs)

    async def park(self, count: int) -> None:
        """Register tenants of one slot, use it, and let each be parked with another task waiting.

        Raises:
            ScenarioError: they are not all parked then.
        """
        tenants = [f"parked-{number:05}" for number in range(count)]
        await self.store.put_tenants(dict.fromkeys(tenants, TenantConfig(slots=1)))
        self.tenants += count
        await self._submit_all([TaskRef(each, f"task-{number}") for each in tenants for number in (0, 1)])
        while (await self.store.dispatch([(INCARNATION, _BATCH)], _BATCH)).runnable:
            pass
        self.parked = sum([tenant.parked is not None async for tenant in self.store.tenants()])
        if self.parked != count:
            raise ScenarioError(f"{self.parked} tenants are parked, not {count}")

    async def time_dispatch(self, batch: int) -> tuple[int, float | None]:
        """Return how many tasks one call hands over, and the microseconds that it takes the server.

        None, and no sample: others ran scripts meanwhile, or it handed over fewer than it should.
        """
        calls, micros = await self._scripts()
        placed = (await self.store.dispatch([(INCARNATION, batch)], batch)).placed
        calls_after, micros_after = await self._scripts()
        if placed != batch or calls_after != calls + 1:
            return placed, None
        took = float(micros_after - micros)
        self.micros.setdefault(batch, []).append(took)
        return placed, took

    def point(self, batch: int) -> DispatchPoint:
        """Return what the calls of this batch took."""
        samples = self.micros.get(batch, [])
        p50, p99 = _core.percentiles(samples, [50.0, 99.0]) or (None, None)
        return DispatchPoint(
            tenants=self.tenants, parked=self.parked, batch=batch, calls=len(samples), p50_us=p50, p99_us=p99
        )

    async def pending(self) -> int:
        """Return how many tasks wait, by the store's count."""
        pool = (await self.store.snapshot()).pool
        return pool.live - pool.slots

    async def _submit_all(self, refs: Sequence[TaskRef]) -> None:
        """Submit in batches, of which some are always under way. None begins after a refusal."""
        batches = deque(refs[first : first + _BATCH] for first in range(0, len(refs), _BATCH))

        async def submit_next() -> None:
            while batches:
                await self._submit(batches.popleft())

        try:
            await asyncio.gather(*(submit_next() for _ in range(_AT_ONCE)))
        finally:
            batches.clear()

    async def _submit(self, refs: Sequence[TaskRef]) -> None:
        answers = await self.store.submit([submission(ref) for ref in refs], "bench-client")
        refused = [each.status for each in answers if each.status is not SubmitStatus.ACCEPTED]
        if refused:
            raise ScenarioError(f"a submit was refused: {refused[0]}")
        self.submitted += len(refs)

    async def _scripts(self) -> tuple[int, int]:
        stats = await self.store.info("commandstats")
        numbers = dict(pair.split("=", 1) for pair in stats["cmdstat_fcall"].split(","))
        return int(numbers["calls"]), int(numbers["usec"])


async def compare_dispatch(
    pools: Sequence[ManualPool], batches: Sequence[int], calls: int
) -> list[dict[str, float | None]]:
    """Time calls in the pools by turns; what a call hands over is dealt again, so a queue keeps its length.

    Calls beside each other meet the same machine, so their ratio means something even when no single figure does.

    Returns:
        For each pool, by batch: the median ratio of a call to the one of the first pool in the same turn; None: not
        measured.
    """
    ratios: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    order = list(enumerate(pools))
    for _ in range(calls):
        for batch in batches:
            took: dict[int, float | None] = {}
            for place, pool in order:
                placed, took[place] = await pool.time_dispatch(batch)
                await pool.deal(placed)
            for place, micros in took.items():
                if micros and took[0]:
                    ratios[place, batch].append(micros / took[0])
        order.reverse()
    return [
        {str(batch): median(found) if (found := ratios[place, batch]) else None for batch in batches}
        for place in range(len(pools))
    ]


@asynccontextmanager
async def manual_pool(platform: Platform, purpose: str) -> AsyncIterator[ManualPool]:
    """Make a pool for as long as the context lasts."""
    async with Store(platform.endpoint, fresh_name(purpose)) as store:
        await store.put_pool(_POOL)
        try:
            await store.register("bench", INCARNATION, 1_000_000)
            yield ManualPool(store)
        finally:
            await store.erase()
