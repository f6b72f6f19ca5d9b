"""Figures about budgets, windows, throttles and hand-overs as they should be, each with the changes a test wants."""

from bench.figures import BudgetRaceSide, BudgetUse, BurstRun, Handoff, NaiveHandoff, Percentiles, Requeue
from bench.results import Metrics

NONE = Percentiles(p50=None, p95=None, p99=None)


def use(limit: int = 200, admitted: int = 200, held: int = 0, spent: int = 200, **changes) -> BudgetUse:
    events = {"most_promised": 200, "by_events": 200} | changes
    return BudgetUse.of(limit=limit, admitted=admitted, held=held, spent=spent, **events)


def race(side: str = "repaired", accepted: int = 2, contenders: int = 4, *, rejected=None, told=None, **changes):
    lost = contenders - accepted
    return BudgetRaceSide(
        side=side,
        contenders=contenders,
        accepted=accepted,
        rejected=lost if rejected is None else rejected,
        answers=told or {"completed": accepted, "budget_exhausted": lost},
        use=use(**changes),
    )


def run(window: str | None = None, **changes) -> BurstRun:
    whole = {
        "window": window,
        "interval_ms": 1_000,
        "tasks": 24,
        "completed": 24,
        "tasks_per_s": 50.0,
        "queue_wait_ms": NONE,
        "processing_ms": NONE,
        "end_to_end_ms": NONE,
        "workers": {"w1": 12, "w2": 12},
        "could_run": 6,
        "peak_active": 4,
        "starts_by_priority": {"1": 8, "10": 16},
        "handed_too_early": [],
        "too_early": [],
        "overtook": [],
        "closest_ms": 1_000 if window else 60,
        "closest_seen_ms": 1_001.5 if window else 61.0,
        "use": use(),
    }
    return BurstRun(**(whole | changes))


def bursts(*runs: BurstRun) -> Metrics:
    return Metrics(bursts=[*runs])


def both(**changes) -> Metrics:
    """Both loads, the one without a window with these changes."""
    return bursts(run("4 starts per 1,000 ms"), run(**changes))


def races(*sides: BudgetRaceSide) -> Metrics:
    return Metrics(budget_race=[*sides])


def requeue(**changes) -> Metrics:
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
    return Metrics(requeue=Requeue(**(whole | changes)))


def orphan(**changes) -> Metrics:
    whole = {"orphans": ["task-1"], "slots": 1, "cost": 100, "handed_over": 0, "next_says": "no slot is free"}
    return Metrics(naive_handoff=NaiveHandoff(**(whole | changes)))


def handoff(**changes) -> Metrics:
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
    return Metrics(handoff=Handoff(**(whole | changes)))


BROKEN = race("naive", 4, admitted=400, spent=100)
