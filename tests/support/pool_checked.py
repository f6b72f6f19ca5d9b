"""A pool under a health checker, and what was reported."""

from fairlane.clock import system_rng
from fairlane.config.pool import HealthConfig
from fairlane.pool.events import PoolEvent, PoolEventKind
from fairlane.pool.health import HealthChecker
from fairlane.pool.health_report import HealthReport
from fairlane.pool.pool import Pool
from tests.support.pool_members import ScriptedMember, answer
from tests.support.virtual_time import VirtualClock

EVERY_SECOND = HealthConfig(interval_ms=1_000, jitter=0, timeout_ms=500, failure_threshold=3, success_threshold=2)
ILL = answer(healthy=False, detail="no disk")


def checker(pool: Pool[ScriptedMember], config: HealthConfig = EVERY_SECOND, seed: int = 1) -> HealthChecker:
    return HealthChecker(pool, config, clock=VirtualClock(), rng=system_rng(seed))


def reports(pool: Pool[ScriptedMember]) -> list[HealthReport]:
    """Return a list that grows with each report."""
    seen: list[HealthReport] = []

    def see(event: PoolEvent) -> None:
        if event.kind is PoolEventKind.HEALTH:
            assert isinstance(event.after, HealthReport)
            seen.append(event.after)

    pool.subscribe(see)
    return seen


async def ready(*members: ScriptedMember) -> Pool[ScriptedMember]:
    for member in members:
        await member.start()
    return Pool(members)
