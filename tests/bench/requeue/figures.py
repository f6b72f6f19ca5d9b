"""Good figures of a throttled task, with the changes that a test passes."""

from bench.requeue.metrics import Requeue, RequeueMetrics
from tests.bench.budget.figures import use


def requeue(**changes) -> RequeueMetrics:
    whole = {
        "task": "a:t",
        "attempts": ["throttled", "completed"],
        "asked_ms": 500,
        "paused_ms": 500,
        "state_in_pause": "pending",
        "failures": 0,
        "calls_seen": [1],
        "held_before": 100,
        "held_after": 0,
        "overtaken_by": [],
        "came_after": 3,
        "handed_over": ["a:u"],
        "held_back": 5,
        "starts_in_pause": [],
        "first_start_ms": 500,
        "charged": 100,
        "cost": 100,
        "use": use(),
    }
    return RequeueMetrics(
        requeue=Requeue(**(whole | changes)),
        potential_orphans=[],
        left_in_flight={"slots": 0, "cost": 0},
        violations=[],
    )


NOTHING = requeue(
    attempts=[],
    paused_ms=None,
    state_in_pause=None,
    failures=None,
    calls_seen=[],
    held_before=0,
    came_after=0,
    handed_over=[],
    held_back=0,
    first_start_ms=None,
    charged=0,
).model_copy(update={"potential_orphans": ["a:t"], "left_in_flight": {}, "violations": ["no audit"]})
"""Nothing was measured, and no invariant was checked."""
