"""The scenario of a throttled task: a burst, one task of which meets a throttle in its first attempt."""

from dataclasses import dataclass

from pydantic import JsonValue

from bench.requeue.checks import BACK_IN_ITS_PLACE, COMPLETES_ONCE, NOTHING_HELD_FOR_IT, NOTHING_STARTS, SPENT_ONCE
from bench.shared.burst import STANDARD_BURST, Burst
from bench.shared.checks import AUDIT_CLEAN, NOTHING_LEFT
from bench.shared.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class RequeueScenario(Scenario):
    """The burst, one task of which meets a throttle in its first attempt.

    Beside the workers there is one of a single slot that is slow on purpose: it asks for the task handed over to it
    only when the pause has begun.
    """

    burst: Burst
    throttled: int
    """Which task of the burst, counted from 0 in the order in which they are submitted."""
    pause_ms: int

    def settings(self) -> dict[str, JsonValue]:
        """Return burst, task and pause."""
        return {"burst": self.burst.settings(), "throttled": self.throttled, "pause_ms": self.pause_ms}


THROTTLE_REQUEUE = RequeueScenario(
    name="throttle-requeue",
    group="budget",
    title="A provider that asks for a pause",
    claim="A throttled task goes back to its place and costs nothing; until the pause is over nothing starts.",
    reading="A third worker, played by the driver, is slow on purpose: it already has a task when the pause begins "
    "and asks for it only then. It has to wait like everybody else. The throttled task was ahead of all that "
    "waits, so it must be the first to be handed over again.",
    burst=STANDARD_BURST,
    throttled=4,
    pause_ms=500,
    checks=(
        BACK_IN_ITS_PLACE,
        NOTHING_HELD_FOR_IT,
        NOTHING_STARTS,
        COMPLETES_ONCE,
        SPENT_ONCE,
        NOTHING_LEFT,
        AUDIT_CLEAN,
    ),
    quick=True,
)
