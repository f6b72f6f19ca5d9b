"""The metrics of a dispatcher that is killed."""

from bench.shared.metrics import EndMetrics, Part


class NaiveHandoff(Part):
    """The state left by a naive dispatcher that was killed between reserving and handing over."""

    orphans: list[str]
    slots: int
    cost: int
    handed_over: int
    next_says: str
    """The answer of the next dispatcher."""


class Handoff(Part):
    """The tasks whose dispatcher was killed repeatedly."""

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
    """The figures of both sides."""

    naive_handoff: NaiveHandoff
    handoff: Handoff
