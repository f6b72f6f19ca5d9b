"""A group with a health checker, and its reports."""

from fairlane.clock import system_rng
from fairlane.config.workers import HealthConfig
from fairlane.workers.members.events import MemberEvent, MemberEventKind
from fairlane.workers.members.group import WorkerGroup
from fairlane.workers.members.health_checker import HealthChecker
from fairlane.workers.members.health_report import HealthReport
from tests.support.virtual_time import VirtualClock
from tests.support.worker_members import ScriptedMember, answer

EVERY_SECOND = HealthConfig(interval_ms=1_000, jitter=0, timeout_ms=500, failure_threshold=3, success_threshold=2)
ILL = answer(healthy=False, detail="no disk")


def checker(group: WorkerGroup[ScriptedMember], config: HealthConfig = EVERY_SECOND, seed: int = 1) -> HealthChecker:
    return HealthChecker(group, config, clock=VirtualClock(), rng=system_rng(seed))


def reports(group: WorkerGroup[ScriptedMember]) -> list[HealthReport]:
    """Return a list that grows with each report."""
    seen: list[HealthReport] = []

    def see(event: MemberEvent) -> None:
        if event.kind is MemberEventKind.HEALTH:
            assert isinstance(event.after, HealthReport)
            seen.append(event.after)

    group.subscribe(see)
    return seen


async def ready(*members: ScriptedMember) -> WorkerGroup[ScriptedMember]:
    for member in members:
        await member.start()
    return WorkerGroup(members)
