"""The promises about a throttle: the task keeps its place and loses nothing, the pool pauses."""

from dataclasses import dataclass

from pydantic import JsonValue

from bench.checks.verdict import verdict
from bench.results import Check, Metrics
from bench.scenario import Scenario


@dataclass(frozen=True)
class BackInItsPlace:
    """The task waits again, and of all that waits behind it none is handed over before it."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.requeue
        if found is None:
            return verdict("back in its place", False, None, "a throttled task")
        passed = found.state_in_pause == "pending" and not found.overtaken_by and found.came_after > 0
        return verdict(
            "back in its place",
            passed,
            {
                "in the pause": found.state_in_pause,
                "overtaken by": [*found.overtaken_by],
                "handed over after it": found.came_after,
            },
            "pending; overtaken by none of those behind it",
        )


@dataclass(frozen=True)
class NothingHeldForIt:
    """The throttle gave back what was held, and counted no failure."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.requeue
        if found is None:
            return verdict("nothing held, no failure", False, None, "a throttled task")
        passed = (found.held_before, found.held_after) == (found.cost, 0) and (
            (found.failures, found.calls_seen) == (0, [1])
        )
        observed: dict[str, JsonValue] = {
            "held for it": f"{found.held_before} → {found.held_after}",
            "failures": found.failures,
            "the provider's count of the attempt that completed": [*found.calls_seen],
        }
        return verdict("nothing held, no failure", passed, observed, f"{found.cost} → 0, 0 failures, still attempt 1")


@dataclass(frozen=True)
class NothingStarts:
    """During the whole pause nothing starts anywhere, also not what a worker already has."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.requeue
        if found is None:
            return verdict("no start during the pause", False, None, "a pause")
        passed = (
            found.paused_ms is not None
            and found.paused_ms >= found.asked_ms
            and not found.starts_in_pause
            and found.first_start_ms is not None
            and found.first_start_ms >= found.asked_ms
            and bool(found.handed_over)
            and found.held_back > 0
        )
        return verdict(
            "no start during the pause",
            passed,
            {
                "starts": [*found.starts_in_pause],
                "next start after ms": found.first_start_ms,
                "handed over before": [*found.handed_over],
                "asked in vain": found.held_back,
            },
            f"none for {found.asked_ms} ms, although something was handed over and asked for",
        )


@dataclass(frozen=True)
class CompletesOnce:
    """The task completes in its next attempt, and only there."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.requeue
        passed = found is not None and found.attempts == ["throttled", "completed"]
        return verdict(
            "completes once", passed, None if found is None else [*found.attempts], "throttled, then completed"
        )


@dataclass(frozen=True)
class SpentOnce:
    """The task cost what it costs once, and so the budget pays for the whole burst exactly."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.requeue
        if found is None:
            return verdict("spent once", False, None, "a ledger")
        use = found.use
        passed = (
            found.charged == found.cost > 0
            and (use.spent, use.held, use.by_events) == (use.limit, 0, use.limit)
            and use.admitted == use.limit
        )
        observed = f"{found.charged} for the task; ledger {use.spent} of {use.limit} spent, {use.held} held"
        return verdict("spent once", passed, observed, f"{found.cost}; {use.limit} of {use.limit} spent, 0 held")
