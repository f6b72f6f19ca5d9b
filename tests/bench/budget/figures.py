"""Good figures about budgets, each with the changes that a test passes."""

from bench.budget.metrics import BudgetMetrics, BudgetRaceMetrics, BudgetRaceSide, BurstRun
from bench.shared.budget_use import BudgetUse
from bench.shared.metrics import Percentiles

WINDOW = "4 starts per 1,000 ms"
NONE = Percentiles(p50=None, p95=None, p99=None)


def use(limit: int = 200, admitted: int = 200, held: int = 0, spent: int = 200, **changes) -> BudgetUse:
    events = {"most_promised": 200, "by_events": 200} | changes
    return BudgetUse.of(limit=limit, admitted=admitted, held=held, spent=spent, **events)


def race(side: str = "repaired", accepted: int = 2, contenders: int = 4, *, rejected=None, answers=None, **changes):
    lost = contenders - accepted
    return BudgetRaceSide(
        side=side,
        contenders=contenders,
        accepted=accepted,
        rejected=lost if rejected is None else rejected,
        answers=answers or {"completed": accepted, "budget_exhausted": lost},
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


BROKEN = race("naive", 4, admitted=400, spent=100)


def bursts(*runs: BurstRun, sides: tuple[BudgetRaceSide, ...] = (), **changes) -> BudgetMetrics:
    whole = {
        "bursts": [*runs],
        "budget_race": [*sides],
        "throughput_per_s": 50.0,
        "potential_orphans": [],
        "left_in_flight": {"slots": 0, "cost": 0},
        "violations": [],
    }
    return BudgetMetrics(**(whole | changes))


def both(**changes) -> BudgetMetrics:
    """Both loads; the one without a window has these changes."""
    return bursts(run(WINDOW), run(**changes))


def races(*sides: BudgetRaceSide) -> BudgetRaceMetrics:
    return BudgetRaceMetrics(budget_race=[*sides])


NOTHING = bursts(potential_orphans=["a:t (fence 1)"], left_in_flight={}, violations=["no audit"], throughput_per_s=None)
"""Nothing was measured, and no invariant was checked."""
