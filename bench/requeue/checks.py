"""The promises about a throttle: the task keeps its place and loses nothing, the pool pauses."""

from bench.requeue.metrics import Requeue, RequeueMetrics
from bench.shared.checks import Promise

Throttle = Promise[RequeueMetrics]


def _back_in_its_place(found: Requeue) -> bool:
    return found.state_in_pause == "pending" and not found.overtaken_by and found.came_after > 0


BACK_IN_ITS_PLACE = Throttle(
    "back in its place",
    lambda m: _back_in_its_place(m.requeue),
    lambda m: {
        "in the pause": m.requeue.state_in_pause,
        "overtaken by": [*m.requeue.overtaken_by],
        "handed over after it": m.requeue.came_after,
    },
    "pending; overtaken by none of those behind it",
)


def _nothing_held(found: Requeue) -> bool:
    held = (found.held_before, found.held_after) == (found.cost, 0)
    return held and (found.failures, found.calls_seen) == (0, [1])


NOTHING_HELD_FOR_IT = Throttle(
    "nothing held, no failure",
    lambda m: _nothing_held(m.requeue),
    lambda m: {
        "held for it": f"{m.requeue.held_before} → {m.requeue.held_after}",
        "failures": m.requeue.failures,
        "the provider's count of the attempt that completed": [*m.requeue.calls_seen],
    },
    lambda m: f"{m.requeue.cost} → 0, 0 failures, still attempt 1",
)


def _nothing_starts(found: Requeue) -> bool:
    return (
        found.paused_ms is not None
        and found.paused_ms >= found.asked_ms
        and not found.starts_in_pause
        and found.first_start_ms is not None
        and found.first_start_ms >= found.asked_ms
        and bool(found.handed_over)
        and found.held_back > 0
    )


NOTHING_STARTS = Throttle(
    "no start during the pause",
    lambda m: _nothing_starts(m.requeue),
    lambda m: {
        "starts": [*m.requeue.starts_in_pause],
        "next start after ms": m.requeue.first_start_ms,
        "handed over before": [*m.requeue.handed_over],
        "asked in vain": m.requeue.held_back,
    },
    lambda m: f"none for {m.requeue.asked_ms} ms, although something was handed over and asked for",
)
"""During the whole pause nothing starts anywhere, not even a task that a worker already has."""

COMPLETES_ONCE = Throttle(
    "completes once",
    lambda m: m.requeue.attempts == ["throttled", "completed"],
    lambda m: [*m.requeue.attempts],
    "throttled, then completed",
)


def _spent_once(found: Requeue) -> bool:
    use = found.use
    return (
        found.charged == found.cost > 0
        and (use.spent, use.held, use.by_events) == (use.limit, 0, use.limit)
        and use.admitted == use.limit
    )


def _spent(found: Requeue) -> str:
    use = found.use
    return f"{found.charged} for the task; ledger {use.spent} of {use.limit} spent, {use.held} held"


SPENT_ONCE = Throttle(
    "spent once",
    lambda m: _spent_once(m.requeue),
    lambda m: _spent(m.requeue),
    lambda m: f"{m.requeue.cost}; {m.requeue.use.limit} of {m.requeue.use.limit} spent, 0 held",
)
"""The task's cost is spent once, and so the budget pays for the whole burst exactly."""
