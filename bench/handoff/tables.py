"""The tables of a dispatcher that is killed."""

from collections.abc import Iterator

from bench.handoff.metrics import Handoff, HandoffMetrics, NaiveHandoff
from bench.shared.kind import Table
from bench.shared.text import Facts, columns, number


def tables(metrics: HandoffMetrics) -> Iterator[Table]:
    """Yield the tables of both sides."""
    yield "The naive dispatcher, killed between its two steps", columns([("", _naive(metrics.naive_handoff))])
    yield "The product's dispatcher, killed at random moments", columns([("", _handoff(metrics.handoff))])


def _naive(left: NaiveHandoff) -> Facts:
    return {
        "orphans": ", ".join(left.orphans) or "none",
        "slots that stay held": str(left.slots),
        "cost that stays held": str(left.cost),
        "handed over": str(left.handed_over),
        "the next dispatcher": left.next_says,
    }


def _handoff(found: Handoff) -> Facts:
    return {
        "kills": f"{found.kills}, of {found.processes} processes",
        "hand-overs before each": " ".join(str(count) for count in found.handed_over_before),
        "tasks not ended at each": " ".join(str(count) for count in found.unended_at),
        "tasks": f"{number(found.tasks, 0)}, of which {number(found.completed, 0)} completed",
        "results the client has": number(found.results, 0),
        "attempts": ", ".join(f"{number(count, 0)} {state}" for state, count in found.attempts.items()),
    }
