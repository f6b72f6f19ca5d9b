"""The metrics of a dispatcher that is killed."""

from bench.shared.metrics import EndMetrics, Part


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


class HandoffMetrics(EndMetrics):
    """What both sides left."""

    naive_handoff: NaiveHandoff
    handoff: Handoff
