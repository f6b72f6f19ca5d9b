"""A random history of work, budgets and time on a real server; the ledger oracle checks every step."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

from fairlane.audit.money import Accounts
from fairlane.config import BudgetConfig, TenantConfig, WindowConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.policy import BudgetPolicy, ThrottleScope
from fairlane.domain.task import OnUnknown
from fairlane.store.messages import Return, StartedTask, Submission, SubmitStatus, Throttle, Write
from tests.support.oracle_ledger import POOL, LedgerOracle
from tests.support.store_dump import unchanged
from tests.support.store_world import World, settlement, task

TENANTS = ("a", "b", "c")
LIMITS = (0, 100, 450, 3000)
COSTS = (1, 30, 100, 400)
LONG_LEASE = 3_600_000


class History:
    """One random run. Everything follows from the seed."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.oracle = LedgerOracle()
        self.by_events = Accounts()
        self.submitted: list[Submission] = []
        self.running: list[tuple[str, StartedTask]] = []
        self.ended: list[tuple[str, StartedTask, int]] = []
        self.lives: dict[str, str] = {}
        self.configs = dict.fromkeys(TENANTS, TenantConfig())
        self.keys = 0
        self.read = "0"
        self.pool: dict[str, Any] = {}

    async def begin(self) -> None:
        rng = self.rng
        self.pool = {"lease_ms": LONG_LEASE, "max_recoveries": 1000, "max_attempts": 4, "quantum_units": 100,
                     "throttle_scope": rng.choice(list(ThrottleScope)), **self.some_windows()}  # fmt: skip
        await self.put_pool()
        for tenant in TENANTS:
            await self.put(tenant, budget=self.some_budget(), **self.some_windows())
        for name in ("w0", "w1"):
            await self.register(name)

    def some_budget(self) -> BudgetConfig | None:
        rng = self.rng
        if rng.random() < 0.2:
            return None
        period_ms = rng.choice([None, 1000, 1700])
        return BudgetConfig(
            limit_units=rng.choice(LIMITS), period_ms=period_ms, anchor_ms=rng.choice([0, 333]) if period_ms else 0,
            when_exhausted=rng.choice([*BudgetPolicy, BudgetPolicy.WAIT]),
        )  # fmt: skip

    def some_windows(self) -> dict[str, WindowConfig | None]:
        rng = self.rng
        starts = rng.choice([None, WindowConfig(limit=rng.choice([1, 3, 6]), interval_ms=rng.choice([200, 900]))])
        spend = rng.choice([None, WindowConfig(limit=rng.choice([400, 900]), interval_ms=rng.choice([300, 1300]))])
        return {"starts": starts, "spend": spend}

    async def put(self, tenant: str, **changes: object) -> None:
        config = self.configs[tenant] = self.configs[tenant].model_copy(update=changes)
        await self.world.store.put_tenants({tenant: config})
        await self.follow()
        self.oracle.configure(tenant, config, self.world.now)

    async def put_pool(self) -> None:
        await self.world.pool(**self.pool)
        self.oracle.limit_starts(POOL, self.pool["starts"], self.pool["spend"])

    async def change_limits(self) -> None:
        tenant = self.rng.choice(TENANTS)
        budget = self.configs[tenant].budget
        if budget is None or self.rng.random() < 0.4:
            await self.put(tenant, budget=self.some_budget())
        else:
            await self.put(tenant, budget=budget.model_copy(update={"limit_units": self.rng.choice(LIMITS)}))

    async def change_windows(self) -> None:
        def moved(window: WindowConfig | None) -> WindowConfig | None:
            step = self.rng.choice([-1, 2]) * (1 if window and window.limit < 50 else 100)
            return window and window.model_copy(update={"limit": max(1, window.limit + step)})

        tenant = self.rng.choice([*TENANTS, POOL])
        if tenant == POOL:
            self.pool.update(starts=moved(self.pool["starts"]), spend=moved(self.pool["spend"]))
            await self.put_pool()
        else:
            config = self.configs[tenant]
            await self.put(tenant, starts=moved(config.starts), spend=moved(config.spend))

    async def register(self, name: str) -> None:
        self.lives[name] = f"{name}-{len(self.ended)}-{self.world.now}-{self.rng.randrange(10**6)}"
        await self.world.worker(self.lives[name], slots=self.rng.choice([3, 12]), name=name)

    async def submit(self) -> None:
        for _ in range(self.rng.randint(1, 6)):
            tenant, cost = self.rng.choice(TENANTS), self.rng.choice(COSTS)
            new = task(f"t{len(self.submitted):04}", cost, tenant=tenant, deadline_ms=self.rng.choice([0, 0, 0, 700]),
                       priority=self.rng.choice([0, 100]), on_unknown=self.rng.choice(list(OnUnknown)))  # fmt: skip
            if self.oracle.refuses(tenant, cost, self.world.now):
                async with unchanged(self.world.store):
                    (answer,) = await self.world.store.submit([new], "c")
                assert answer.status is SubmitStatus.COST_ABOVE_CEILING
            else:
                self.submitted.append(new)
                if new.on_unknown is OnUnknown.FAIL:
                    self.oracle.once.add((tenant, new.ref.id))
                await self.world.submit(new)

    async def dispatch(self) -> None:
        await self.world.store.dispatch([(life, 12) for life in self.lives.values()], self.rng.choice([1, 3, 64]))

    async def start(self) -> None:
        for life in self.lives.values():
            known = {each.fence for _, each in self.running}
            new = (await self.world.store.start(life, 0, self.rng.choice([1, 64]))).tasks
            self.running += [(life, each) for each in new if each.fence not in known]

    async def end(self) -> None:
        """Settle, fail, throttle or release an attempt of some worker, if the worker still has it."""
        for life, each in self.rng.sample(self.running, min(len(self.running), 3)):
            self.running.remove((life, each))
            actual = self.rng.choice([0, 1, each.cost // 2, each.cost, each.cost, 3 * each.cost])
            way = self.rng.choice(["settle", "settle", "fail", "throttle", "release"])
            if life not in self.lives.values():
                way = "settle"
            if way == "throttle":
                await self.world.store.throttle(life, [Throttle(each.ref, each.fence, self.rng.choice([None, 0, 40]))])
            elif way == "release":
                await self.world.store.release(life, [Return(each.ref, each.fence)])
            else:
                await self.settle(life, each, actual, Outcome.FAILED if way == "fail" else self.rng.choice([*Outcome]))
                self.ended.append((life, each, actual))

    async def settle(self, life: str, each: StartedTask, actual: int, outcome: Outcome) -> None:
        late = each.fence in self.oracle.unreported and actual > 0
        self.oracle.reported[each.fence] = actual
        end = settlement(each, outcome, actual, backoff_ms=self.rng.choice([0, 60]))
        (write,) = await self.world.store.settle(life, [end])
        assert write in {Write.DONE, Write.STALE}
        assert (write is Write.STALE) == (life not in self.lives.values())
        await self.follow()
        assert not (late and each.fence in self.oracle.unreported), "usage that was not booked"

    async def repeat(self) -> None:
        """Send a settlement again. It must change nothing, whichever worker has the task now."""
        done = [entry for entry in self.ended if entry[2] > 0]
        if done:
            life, each, actual = self.rng.choice(done)
            async with unchanged(self.world.store):
                answers = await self.world.store.settle(life, [settlement(each, actual=actual)])
                assert Write.DONE not in answers
                if self.keys and self.configs["a"].budget:
                    await self.world.store.top_up("a", 60, "k1")

    async def cancel(self) -> None:
        if self.submitted:
            await self.world.store.cancel([self.rng.choice(self.submitted[-30:]).ref])

    async def lose_worker(self) -> None:
        name = self.rng.choice(list(self.lives))
        if self.rng.random() < 0.5:
            await self.world.store.evict(self.lives[name])
        await self.register(name)

    async def top_up(self) -> None:
        tenant = self.rng.choice(TENANTS)
        if self.configs[tenant].budget is not None:
            self.keys += tenant == "a"
            key = f"k{self.keys}" if tenant == "a" else f"k{self.rng.randrange(6)}"
            limit = await self.world.store.top_up(tenant, 60, key)
            await self.follow()
            assert limit == self.oracle.top_up(tenant, 60, key, self.world.now)

    async def pass_time(self) -> None:
        """Move time a little, or to just before, at or after the end of a period or window."""
        now, edges = self.world.now, []
        for tenant in TENANTS:
            if end := (await self.world.ledger(tenant)).period_ends_ms:
                edges.append(end)
        stamps = [each.started_ms for each in self.oracle.attempts.values() if each.started_ms is not None][-20:]
        edges += [at + window.interval_ms for at in stamps for window in self.oracle.windows.values()]
        edges = [edge + off for edge in edges for off in (-1, 0, 1) if edge + off > now]
        self.world.now = self.rng.choice([now + 1, now + 40, now + 300, now + 5000, *edges[:6], *edges[:6]])

    async def follow(self) -> None:
        """Feed the new events to the oracle."""
        while page := await self.world.store.events(self.read):
            for event in page:
                self.oracle.feed(event)
                assert list(self.by_events.feed(event)) == []
            self.read = page[-1].stream_id

    async def step(self) -> None:
        actions: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (8, self.submit), (14, self.dispatch), (12, self.start), (10, self.end), (2, self.repeat), (2, self.cancel),
            (2, self.lose_worker), (2, self.top_up), (8, self.pass_time), (2, self.change_limits),
            (1, self.change_windows),
        ]  # fmt: skip
        weights, choices = zip(*actions, strict=True)
        await self.rng.choices(choices, weights)[0]()
        await self.follow()
        for tenant in TENANTS:
            self.oracle.expect(tenant, await self.world.ledger(tenant), self.world.now)

    async def drain(self) -> None:
        """Raise the budgets until every task can end; nothing may stay held."""
        for tenant in TENANTS:
            await self.put(tenant, budget=BudgetConfig(limit_units=10**6))
        for _ in range(400):
            await self.dispatch()
            await self.start()
            for life, each in self.running:
                await self.settle(life, each, each.cost, Outcome.COMPLETED)
            self.running.clear()
            self.world.now += 450
            if (await self.world.pool_view()).live == 0:
                return
        raise AssertionError("some tasks never ended")
