"""Good figures of a dispatcher that is killed, with the changes that a test passes."""

from bench.handoff.metrics import Handoff, HandoffMetrics, NaiveHandoff


def metrics(naive: dict | None = None, **changes) -> HandoffMetrics:
    broken = {"orphans": ["task-1"], "slots": 1, "cost": 100, "handed_over": 0, "next_says": "no slot is free"}
    whole = {
        "kills": 2,
        "processes": 2,
        "handed_over_before": [9, 4],
        "unended_at": [7, 8],
        "tasks": 20,
        "completed": 20,
        "results": 20,
        "attempts": {"completed": 20},
    }
    return HandoffMetrics(
        naive_handoff=NaiveHandoff(**(broken | (naive or {}))),
        handoff=Handoff(**(whole | changes)),
        potential_orphans=[],
        left_in_flight={"slots": 0, "cost": 0},
        violations=[],
    )


def orphan(**changes) -> HandoffMetrics:
    return metrics(changes)


NOTHING = metrics(
    {"orphans": [], "slots": 0, "cost": 0, "next_says": ""},
    kills=0,
    processes=0,
    handed_over_before=[],
    unended_at=[],
    tasks=0,
    completed=0,
    results=0,
    attempts={},
).model_copy(update={"potential_orphans": ["a:t"], "left_in_flight": {}, "violations": ["no audit"]})
"""Nothing was measured, and no invariant was checked."""
