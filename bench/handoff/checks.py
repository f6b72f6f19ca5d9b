"""The promises about a dispatcher that is killed."""

from bench.handoff.metrics import Handoff, HandoffMetrics
from bench.shared.checks import Promise

Killed = Promise[HandoffMetrics]


def naive_loses_one(slots: int, cost: int) -> Killed:
    """The failure is real: the task that was reserved and not handed over keeps its slot, and no other can start."""

    def holds(metrics: HandoffMetrics) -> bool:
        left = metrics.naive_handoff
        return (
            len(left.orphans) == 1
            and (left.slots, left.cost, left.handed_over) == (slots, cost, 0)
            and left.next_says == "no slot is free"
        )

    def observed(metrics: HandoffMetrics) -> str:
        left = metrics.naive_handoff
        orphans = ", ".join(left.orphans) or "none"
        return f"orphan {orphans}; held: {left.slots} slot, {left.cost} cost; the next one: {left.next_says}"

    expected = f"one orphan; {slots} slot and {cost} cost stay held; no slot is free"
    return Killed("naive: an orphan keeps its slot", holds, observed, expected)


def killed_at_work(kills: int) -> Killed:
    """Each kill hits a different process, which has handed tasks over, while tasks have not ended."""

    def holds(metrics: HandoffMetrics) -> bool:
        found = metrics.handoff
        return (
            found.kills == found.processes == kills
            and len(found.handed_over_before) == len(found.unended_at) == kills
            and min(found.handed_over_before) > 0
            and min(found.unended_at) > 0
        )

    def observed(metrics: HandoffMetrics) -> str:
        found = metrics.handoff
        counts = " ".join(str(count) for count in found.handed_over_before)
        return f"{found.kills} kills of {found.processes} processes; hand-overs before each: {counts}"

    return Killed("killed at work", holds, observed, f"{kills} of as many processes, each after hand-overs")


def _all_complete_once(found: Handoff) -> bool:
    everything = found.tasks == found.completed == found.results
    return found.tasks > 0 and everything and found.attempts == {"completed": found.tasks}


def _completed(found: Handoff) -> str:
    attempts = ", ".join(f"{count} {state}" for state, count in found.attempts.items())
    return f"{found.completed} of {found.tasks}, {found.results} results; attempts: {attempts}"


ALL_COMPLETE_ONCE = Killed(
    "every task completes, once",
    lambda m: _all_complete_once(m.handoff),
    lambda m: _completed(m.handoff),
    "as many as were submitted",
)
"""Every task completes in its only attempt, and the client has its result."""
