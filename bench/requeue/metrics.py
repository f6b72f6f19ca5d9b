"""The metrics of the scenario of a throttled task."""

from bench.shared.budget_use import BudgetUse
from bench.shared.metrics import EndMetrics, Part


class Requeue(Part):
    """The effects of a throttle on its task and on the pool."""

    task: str
    attempts: list[str]
    """The ends of its attempts, in their order."""
    asked_ms: int
    """The pause the provider asked for."""
    paused_ms: int | None
    """For how long the pool was paused, from the throttle on; null: it was not."""
    state_in_pause: str | None
    failures: int | None
    """Failures counted against the task during the pause."""
    calls_seen: list[int]
    """Numbers of its attempts, as the provider got them; a failure raises the number."""
    held_before: int
    """Held for the task just before the throttle, by the events."""
    held_after: int
    """What the ledger held during the pause beyond the costs of what was in flight by the events."""
    overtaken_by: list[str]
    """Tasks from behind it in the queue that were handed over before it was again."""
    came_after: int
    """Tasks from behind it in the queue that were handed over after it was again."""
    handed_over: list[str]
    """Tasks that were with a worker and had not started when the pause began."""
    held_back: int
    """How often a worker asked during the pause and had to wait."""
    starts_in_pause: list[str]
    first_start_ms: int | None
    """From the throttle to the next start anywhere."""
    charged: int
    """What all its attempts together cost."""
    cost: int
    use: BudgetUse


class RequeueMetrics(EndMetrics):
    """What the throttle did."""

    requeue: Requeue
