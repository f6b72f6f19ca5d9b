"""Hundreds of random commands by clients, workers, operators and the clock: the stored state stays sound throughout,
and every task ends."""

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from fairlane.audit import check_invariants
from fairlane.config import ControllerConfig
from fairlane.domain.attempt import Outcome
from fairlane.domain.policy import QueuePolicy, ThrottleScope
from fairlane.domain.task import OnUnknown, TaskRef
from fairlane.errors import ConfigError, LeaseLost
from fairlane.store.messages import Return, Settlement, StartedTask, Throttle
from tests.support.store_world import World, settlement, task

STEPS = 400
CHECK_EVERY = 40
TENANTS = ("a", "b", "c", "d")
WORKERS = ("w0", "w1", "w2")


class Chaos:
    """One random run. Everything follows from the seed."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = random.Random(seed)
        self.policy = self.rng.choice([QueuePolicy.WDRR, QueuePolicy.WDRR, QueuePolicy.PRIORITY, QueuePolicy.FIFO])
        self.scope = self.rng.choice(list(ThrottleScope))
        self.submitted: list[TaskRef] = []
        self.running: dict[str, list[StartedTask]] = {}
        self.lives = 0
        self.current: dict[str, str] = {}

    async def begin(self) -> None:
        await self.put_pool()
        for tenant in TENANTS:
            await self.world.tenant(tenant, weight=self.rng.choice([1, 1, 3, 10]))
        for name in WORKERS:
            await self.register(name)

    async def put_pool(self) -> None:
        rng = self.rng
        await self.world.pool(
            policy=self.policy,
            quantum_units=50,
            throttle_scope=self.scope,
            slots=rng.choice([4, 12, 40]),
            cost_ceiling_units=rng.choice([None, None, 900]),
            lease_ms=2000,
            max_attempts=3,
            max_recoveries=2,
        )

    async def put_tenant(self) -> None:
        rng = self.rng
        await self.world.tenant(
            rng.choice(TENANTS),
            weight=rng.choice([1, 2, 5, 1000]),
            slots=rng.choice([None, 1, 3]),
            cost_ceiling_units=rng.choice([None, 150, 600]),
            queue_limit=rng.choice([5, 1000]),
        )

    async def register(self, name: str | None = None) -> None:
        name = name or self.rng.choice(WORKERS)
        self.lives += 1
        self.current[name] = f"{name}-{self.lives}"
        await self.world.worker(self.current[name], slots=self.rng.choice([2, 8]), name=name)

    async def submit(self) -> None:
        rng = self.rng
        batch = [
            task(
                f"t{len(self.submitted) + number}",
                rng.choice([1, 10, 70, 400, 2000]),
                tenant=rng.choice(TENANTS),
                priority=rng.choice([0, 100, 100, 255]),
                deadline_ms=rng.choice([0, 0, 0, 300, 3000]),
                on_unknown=rng.choice(list(OnUnknown)),
                named_by_caller=rng.random() < 0.5,
            )
            for number in range(rng.randint(1, 12))
        ]
        self.submitted += [each.ref for each in batch]
        await self.world.store.submit([*batch, rng.choice(batch)], rng.choice(["c1", "c2"]))

    async def dispatch(self) -> None:
        plan = [(each, self.rng.randint(0, 8)) for each in self.current.values()]
        self.rng.shuffle(plan)
        await self.world.store.dispatch(plan, self.rng.choice([1, 8, 64]))

    async def start(self) -> None:
        incarnation = self.rng.choice(list(self.current.values()))
        started = await self.world.store.start(incarnation, 0, self.rng.choice([1, 64]))
        if started.alive:
            self.running[incarnation] = list(started.tasks)

    def attempts(self) -> tuple[str, list[StartedTask]]:
        """A worker, which may be lost, and some of its last attempts, which may have ended."""
        if not self.running:
            return "nobody", []
        incarnation = self.rng.choice(list(self.running))
        known = self.running[incarnation]
        return incarnation, self.rng.sample(known, self.rng.randint(0, len(known)))

    def ends(self) -> tuple[str, list[Settlement]]:
        rng = self.rng
        incarnation, attempts = self.attempts()
        settlements = [
            settlement(
                each,
                rng.choice([Outcome.COMPLETED, *Outcome]),
                rng.choice([0, 1, each.cost, 3 * each.cost]),
                backoff_ms=rng.choice([0, 200, 5000]),
            )
            for each in attempts
        ]
        return incarnation, settlements

    async def settle(self) -> None:
        await self.world.store.settle(*self.ends())

    async def turn(self) -> None:
        incarnation, settlements = self.ends()
        _, started = await self.world.store.settle_and_start(incarnation, settlements, 0, self.rng.choice([1, 64]))
        if started.alive:
            self.running[incarnation] = list(started.tasks)

    async def throttle(self) -> None:
        incarnation, attempts = self.attempts()
        pause = self.rng.choice([None, 0, 100])
        await self.world.store.throttle(incarnation, [Throttle(each.ref, each.fence, pause) for each in attempts])

    async def release(self) -> None:
        incarnation, attempts = self.attempts()
        await self.world.store.release(incarnation, [Return(each.ref, each.fence) for each in attempts])

    async def cancel(self) -> None:
        if self.submitted:
            await self.world.store.cancel(self.rng.choices(self.submitted[-40:], k=3))

    async def heartbeat(self) -> None:
        for incarnation in self.current.values():
            await self.world.store.heartbeat(incarnation)

    async def drain(self) -> None:
        await self.world.store.drain(self.rng.choice(list(self.current.values())))

    async def evict(self) -> None:
        await self.world.store.evict(self.rng.choice(list(self.current.values())))

    async def reap(self) -> None:
        await self.world.store.reap()

    async def adapt(self) -> None:
        await self.world.store.adapt(ControllerConfig())

    async def set_capacity(self) -> None:
        await self.world.store.set_capacity(self.rng.choice([1, 5, 40]))

    async def pause(self) -> None:
        if self.rng.random() < 0.5:
            await self.world.store.pause(150)
        else:
            await self.world.store.resume()

    async def remove_tenant(self) -> None:
        tenant = self.rng.choice(TENANTS)
        with suppress(ConfigError):  # it has tasks
            if await self.world.store.remove_tenant(tenant):
                await self.world.tenant(tenant)

    async def pass_time(self) -> None:
        self.world.now += self.rng.choice([1, 50, 400, 900, 4000])

    async def step(self) -> None:
        actions: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (8, self.submit), (12, self.dispatch), (12, self.start), (5, self.settle), (5, self.turn),
            (3, self.throttle), (3, self.release), (3, self.cancel), (6, self.heartbeat), (1, self.drain),
            (1, self.evict), (3, self.reap),
            (2, self.adapt), (1, self.set_capacity), (2, self.pause), (2, self.put_tenant), (1, self.put_pool),
            (1, self.remove_tenant), (6, self.pass_time), (3, self.register),
        ]  # fmt: skip
        weights, choices = zip(*actions, strict=True)
        (action,) = self.rng.choices(choices, weights)
        with suppress(LeaseLost):  # its incarnation had been evicted
            await action()

    async def end(self) -> None:
        """Let the live workers run until no task is left."""
        world = self.world
        await world.pool(policy=self.policy, quantum_units=50, throttle_scope=self.scope, slots=64, lease_ms=2000)
        await world.store.set_capacity(64)
        for tenant in TENANTS:
            await world.tenant(tenant)
        for incarnation in self.current.values():
            while (await world.store.evict(incarnation)).more:
                pass
        while (await world.store.reap()).more:
            pass
        await world.worker("last")
        for _ in range(60):
            world.now += 1000
            await world.store.heartbeat("last")
            await world.dispatch(64, "last")
            for started in await world.start("last"):
                await world.settle(started, worker="last")
            if (await world.pool_view()).live == 0:
                return


@pytest.mark.parametrize("seed", range(10))
async def test_the_state_stays_sound_and_everything_ends(world: World, seed: int) -> None:
    chaos = Chaos(world, seed)
    await chaos.begin()
    for number in range(STEPS):
        await chaos.step()
        if number % CHECK_EVERY == 0:
            assert await check_invariants(world.store) == [], (seed, number)
    await chaos.end()
    pool = await world.pool_view()
    assert (pool.live, pool.slots, pool.cost, pool.runnable, pool.round) == (0, 0, 0, 0, 0)
    views = [view for view in await world.store.get(chaos.submitted) if view is not None]
    assert views
    assert all(view.state.ended for view in views)
