"""A scheduler on a real server in virtual time, with short methods for store tests."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from fairlane.config import BudgetConfig, PoolConfig, TenantConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.events import Event, Row, kind_of
from fairlane.domain.policy import StopReason
from fairlane.domain.task import TaskRef, TaskState, TaskView
from fairlane.store.connection import Endpoint
from fairlane.store.messages import (
    Dispatched,
    Ledger,
    PoolView,
    Return,
    Settlement,
    StartedTask,
    Submission,
    SubmitStatus,
    TenantView,
    Throttle,
    Write,
)
from fairlane.store.store import Store
from tests.support.store_raw import command

START_MS = 1_000_000


def task(task_id: str, cost: int = 100, *, tenant: str = "a", payload: bytes = b"j{}", **fields: Any) -> Submission:
    """Describe a task; the fingerprint covers the same fields as the client's."""
    content = f"{payload!r}|{cost}|{fields.get('priority', 100)}|{fields.get('deadline_ms', 0)}"
    return Submission(TaskRef(tenant, task_id), cost, payload, hashlib.sha256(content.encode()).digest(), **fields)


def tasks(count: int, cost: int = 100, *, tenant: str = "a", first: int = 0, **fields: Any) -> list[Submission]:
    """Describe ``count`` tasks whose ids sort in the order of arrival."""
    return [task(f"t{number:05}", cost, tenant=tenant, **fields) for number in range(first, first + count)]


def budget(limit: int, **more: Any) -> BudgetConfig:
    """Describe a budget; it has no periods unless ``more`` sets them."""
    return BudgetConfig(limit_units=limit, **more)


@dataclass
class World:
    """One pool under test. Time stands still unless a test moves ``now``."""

    endpoint: Endpoint
    name: str
    now: int = START_MS
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.store = self.another_store()

    def another_store(self, endpoint: Endpoint | None = None) -> Store:
        """Open the same scheduler again, perhaps through another endpoint; the caller closes it."""
        return Store(endpoint or self.endpoint, self.name, virtual_now_ms=lambda: self.now)

    async def pool(self, **settings: Any) -> None:
        await self.store.put_pool(PoolConfig(**{"resume_ramp_ms": 0, **settings}))

    async def tenant(self, tenant: str = "a", **settings: Any) -> None:
        await self.store.put_tenants({tenant: TenantConfig(**settings)})

    async def worker(self, incarnation: str = "w1", *, slots: int = 64, name: str | None = None) -> None:
        await self.store.register(name or f"name-{incarnation}", incarnation, slots)

    async def ready(self, *, tenant: dict[str, Any] | None = None, slots: int = 64, **pool: Any) -> None:
        """Put the pool, tenant ``a`` and worker ``w1``."""
        await self.pool(**pool)
        await self.tenant("a", **(tenant or {}))
        await self.worker("w1", slots=slots)

    async def submit(self, *submissions: Submission, client: str = "c") -> None:
        """Submit tasks that must be accepted."""
        for first in range(0, len(submissions), 256):
            answers = await self.store.submit(submissions[first : first + 256], client)
            assert {answer.status for answer in answers} == {SubmitStatus.ACCEPTED}

    async def dispatch(self, limit: int = 64, *workers: str) -> Dispatched:
        return await self.store.dispatch([(worker, limit) for worker in workers or ("w1",)], limit)

    async def start(self, incarnation: str = "w1", cursor: int = 0) -> list[StartedTask]:
        started = await self.store.start(incarnation, cursor)
        assert started.alive
        return list(started.tasks)

    async def active(self, *submissions: Submission, worker: str = "w1") -> list[StartedTask]:
        """Submit tasks and bring them to ``active`` at one worker; return them in the order started."""
        known = {t.ref for t in await self.start(worker)}
        await self.submit(*submissions)
        placed = await self.dispatch(len(submissions), worker)
        assert placed.placed == len(submissions), placed.stop
        return [t for t in await self.start(worker) if t.ref not in known]

    async def settle(
        self,
        started: StartedTask,
        outcome: Outcome = Outcome.COMPLETED,
        actual: int = 100,
        *,
        worker: str = "w1",
        **more: Any,
    ) -> Write:
        (write,) = await self.store.settle(worker, [settlement(started, outcome, actual, **more)])
        return write

    async def throttle(self, started: StartedTask, retry_after_ms: int | None, *, worker: str = "w1") -> Write:
        (write,) = await self.store.throttle(worker, [Throttle(started.ref, started.fence, retry_after_ms)])
        return write

    async def release(
        self, started: StartedTask, *, worker: str = "w1", called: bool = False, actual: int = 0
    ) -> Write:
        (write,) = await self.store.release(worker, [Return(started.ref, started.fence, called, actual)])
        return write

    async def view(self, task_id: str, tenant: str = "a") -> TaskView:
        (view,) = await self.store.get([TaskRef(tenant, task_id)])
        assert view is not None, f"{tenant}:{task_id} has no record"
        return view

    async def state(self, task_id: str, tenant: str = "a") -> TaskState:
        return (await self.view(task_id, tenant)).state

    async def pool_view(self) -> PoolView:
        return (await self.store.snapshot()).pool

    async def tenant_view(self, tenant: str = "a") -> TenantView:
        (view,) = [t for t in (await self.store.snapshot()).tenants if t.id == tenant]
        return view

    async def ledger(self, tenant: str = "a") -> Ledger:
        ledger = await self.store.ledger(tenant)
        assert ledger is not None, f"{tenant} is not registered"
        return ledger

    async def events(self) -> list[Event]:
        """Return all events, which must have no gap."""
        found: list[Event] = []
        while page := await self.store.events(found[-1].stream_id if found else "0"):
            found += page
        assert [event.number for event in found] == list(range(1, len(found) + 1))
        return found

    async def rows(self, *kinds: str) -> list[Row]:
        """Return all event rows of these kinds, in order."""
        return [row for event in await self.events() for row in event.rows if kind_of(row) in kinds]

    async def drain(self) -> None:
        """Run every task that can run to its end."""
        while True:
            placed = await self.dispatch(256)
            for started in await self.start():
                await self.settle(started)
            if placed.placed == 0 and placed.stop is not StopReason.VISITS:
                return

    async def key_type(self, *parts: str) -> str:
        return str((await command(self.store, "TYPE", self.store.keys.key(*parts))).decode())


def settlement(
    started: StartedTask, outcome: Outcome = Outcome.COMPLETED, actual: int = 100, **more: Any
) -> Settlement:
    """Describe the end of an attempt."""
    return Settlement(started.ref, started.fence, outcome, actual, **more)
