"""Parts of the results file that several kinds of scenario share, or that belong to one kind alone."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A frozen part of the file that refuses what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)


class Percentiles(Part):
    """Nearest-rank percentiles; null when there was nothing to rank."""

    p50: float | None
    p95: float | None
    p99: float | None


class RaceSide(Part):
    """How one side of a race ended: what each contender was told, and the value they fought over."""

    contenders: int
    before: int
    after: int
    answers: dict[str, int]


class BudgetUse(Part):
    """What became of one budget. Shares are of the limit."""

    limit: int
    admitted: int
    """Sum of the estimates of the tasks that were let through."""
    admitted_share: float
    held: int
    spent: int
    ledger_share: float
    """What the ledger says is used up."""
    remaining: int
    most_promised: int | None
    """The largest sum of held and spent after any event; null without events."""
    by_events: int | None
    """Held and spent as the events tell them, at the end; null without events."""

    @classmethod
    def of(
        cls,
        *,
        limit: int,
        admitted: int,
        held: int,
        spent: int,
        most_promised: int | None = None,
        by_events: int | None = None,
    ) -> "BudgetUse":
        """Make it, with the shares and the rest."""
        return cls(
            limit=limit,
            admitted=admitted,
            admitted_share=admitted / limit,
            held=held,
            spent=spent,
            ledger_share=(held + spent) / limit,
            remaining=limit - held - spent,
            most_promised=most_promised,
            by_events=by_events,
        )


class BudgetRaceSide(Part):
    """How one side of a race for a budget ended."""

    side: Literal["naive", "repaired"]
    contenders: int
    accepted: int
    rejected: int
    answers: dict[str, int]
    """What the contenders were told."""
    use: BudgetUse


class Requeue(Part):
    """What a throttle did to its task and to the pool."""

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
    """Numbers of its attempts as the provider was told; a failure raises the number."""
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
    """How often a worker asked during the pause and was told to wait."""
    starts_in_pause: list[str]
    first_start_ms: int | None
    """From the throttle to the next start anywhere."""
    charged: int
    """What all its attempts together cost."""
    cost: int
    use: BudgetUse


class NaiveHandoff(Part):
    """What is left when the naive dispatcher was killed between reserving and handing over."""

    orphans: list[str]
    slots: int
    cost: int
    handed_over: int
    next_says: str
    """What the next dispatcher says."""


class Handoff(Part):
    """What became of the tasks whose dispatcher was killed again and again."""

    kills: int
    processes: int
    """Different processes that were killed."""
    handed_over_before: list[int]
    """Hand-overs between the kill before and this one, for each kill."""
    unended_at: list[int]
    """Tasks that had not ended, at each kill."""
    tasks: int
    completed: int
    results: int
    """Tasks of which the client has the result."""
    attempts: dict[str, int]
    """Attempts by the state they are in."""


class BurstRun(Part):
    """A burst of tasks through the product, from the moment the pool may start to the last end."""

    window: str | None
    """The window of starts it ran under."""
    interval_ms: int
    tasks: int
    completed: int
    tasks_per_s: float | None
    queue_wait_ms: Percentiles
    processing_ms: Percentiles
    end_to_end_ms: Percentiles
    workers: dict[str, int]
    """Starts per worker."""
    could_run: int
    """Slots of all workers."""
    peak_active: int
    starts_by_priority: dict[str, int]
    handed_too_early: list[str]
    """Tasks that were handed over before a more urgent one, or before all were submitted."""
    too_early: list[str]
    """Tasks that started before a more urgent one, or before all were submitted."""
    overtook: list[str]
    """Those of them that did by what the store decides, and not because their worker asked sooner than another one."""
    closest_ms: float | None
    """The shortest time from a start to the first one that the window keeps apart from it, by the server's clock."""
    closest_seen_ms: float | None
    """The same as the workers saw it: from call to call."""
    use: BudgetUse
