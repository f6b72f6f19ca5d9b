"""The table of a throttled task."""

from collections.abc import Iterator

from bench.requeue.metrics import Requeue, RequeueMetrics
from bench.shared.kind import Table
from bench.shared.text import Facts, columns, duration, number


def tables(metrics: RequeueMetrics) -> Iterator[Table]:
    """Yield the table of the throttle."""
    yield "The throttle", columns([("", _requeue(metrics.requeue))])


def _requeue(found: Requeue) -> Facts:
    return {
        "task": found.task,
        "its attempts": ", ".join(found.attempts),
        "the pool paused for": duration(found.paused_ms),
        "next start anywhere after": duration(found.first_start_ms),
        "handed over before the pause, not started": ", ".join(found.handed_over) or "none",
        "a worker asked for it in vain": f"{found.held_back} times",
        "held for the task": f"{found.held_before} before the throttle, {found.held_after} in the pause",
        "failures counted": number(found.failures, 0),
        "overtaken by": ", ".join(found.overtaken_by) or f"none of the {found.came_after} behind it",
        "spent for the task": f"{found.charged} of its {found.cost}",
        "ledger": f"{found.use.spent} of {found.use.limit} spent, {found.use.held} held",
    }
