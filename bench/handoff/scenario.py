"""The scenario of a dispatcher that is killed while tasks wait."""

from dataclasses import dataclass

from pydantic import JsonValue

from bench.handoff.checks import ALL_COMPLETE_ONCE, killed_at_work, naive_loses_one
from bench.shared.checks import AUDIT_CLEAN, NOTHING_LEFT
from bench.shared.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class HandoffScenario(Scenario):
    """A dispatcher is killed: the naive one between its two steps, the product's at random moments of its work."""

    kills: int
    schedulers: int
    """Run at the same time, and share the kills: a dispatcher that restarts keeps one core busy."""
    longest_delay_ms: int
    """A kill comes within this time after the first hand-over of a new dispatcher."""
    takes_ms: int
    cost: int
    backlog: int
    """Tasks that are submitted together, whenever none is left; more than a dispatcher plans ahead."""
    pool_slots: int
    worker_count: int
    worker_slots: int

    def settings(self) -> dict[str, JsonValue]:
        """Return kills, tasks and limits."""
        return {
            "kills": self.kills,
            "longest_delay_ms": self.longest_delay_ms,
            "takes_ms": self.takes_ms,
            "cost": self.cost,
            "backlog": self.backlog,
            "pool_slots": self.pool_slots,
            "workers": self.worker_count,
            "worker_slots": self.worker_slots,
        }


RACE_HANDOFF = HandoffScenario(
    name="race-handoff",
    group="races",
    title="A dispatcher that is killed",
    claim="Reserving and handing over are one step, so a dispatcher's death at any moment loses and leaks nothing.",
    reading="The naive side shows the failure, so its result is wrong on purpose: the task is in no queue, and its "
    "slot stays taken. On the repaired side a kill finds a dispatcher either before or after its one step.",
    kills=20,
    schedulers=2,
    longest_delay_ms=300,
    takes_ms=3,
    cost=100,
    backlog=40,
    pool_slots=8,
    worker_count=2,
    worker_slots=4,
    checks=(naive_loses_one(1, 100), killed_at_work(20), ALL_COMPLETE_ONCE, NOTHING_LEFT, AUDIT_CLEAN),
)
