"""Budgets and shared controls: what a budget lets through, and what a window and a throttle hold back."""

from bench.checks.budget import (
    AllPaidFor,
    NeverOverspent,
    PoolFilled,
    RaceEnds,
    RefusedForTheBudget,
    UrgentFirst,
    UrgentHandedFirst,
    WindowKept,
    WorkersShare,
)
from bench.checks.fairness import InvariantsHold, NothingLeft
from bench.checks.requeue import BackInItsPlace, CompletesOnce, NothingHeldForIt, NothingStarts, SpentOnce
from bench.scenario_controls import BudgetRace, BudgetScenario, Burst, RequeueScenario
from fairlane.config import WindowConfig

GROUP = "budget"

BURST = Burst(
    waves=((16, 10), (8, 1)),
    takes_ms=(40, 60, 80),
    submitted=(*range(16), 18, 21, 16, 19, 17, 20, 23, 22),
    cost=100,
    budget_units=2_400,
    pool_slots=4,
    worker_count=2,
    worker_slots=3,
)
"""Without a window the urgent tasks start at 0, 0, 0, 0, 40, 40, 60 and 60 ms, and no slot is free again before 120 ms.

So no other task is handed over together with an urgent one unless the dispatcher is 60 ms late.
"""
WINDOW = WindowConfig(limit=4, interval_ms=1_000)
RACE = BudgetRace(contenders=4, cost=100, budget_units=200)

NAIVE_ENDS = RaceEnds("naive", accepted=4, remaining=100, admitted=2.0, ledger=0.5)
REPAIRED_ENDS = RaceEnds("repaired", accepted=2, remaining=0, admitted=1.0, ledger=1.0)

_BURST_CHECKS = (
    AllPaidFor(24),
    WorkersShare(2),
    UrgentHandedFirst(),
    UrgentFirst(),
    WindowKept(),
    PoolFilled(4),
    NothingLeft(),
    InvariantsHold(),
)

BUDGET_NAIVE = BudgetScenario(
    name="budget-naive",
    group=GROUP,
    title="A budget that is read, judged, and then written",
    claim="The problem is real: four tasks that fit a budget only by twos are all let through, and the ledger does not "
    "even know.",
    side="naive",
    burst=BURST,
    window=WINDOW,
    race=RACE,
    checks=(NAIVE_ENDS, *_BURST_CHECKS),
)

BUDGET_ATOMIC = BudgetScenario(
    name="budget-atomic",
    group=GROUP,
    title="A budget that is judged and held in one step",
    claim="What the budget pays for is let through and no more, at every instant; a window holds starts apart.",
    side="repaired",
    burst=BURST,
    window=WINDOW,
    race=RACE,
    checks=(REPAIRED_ENDS, RefusedForTheBudget(), NeverOverspent(), *_BURST_CHECKS),
)

THROTTLE_REQUEUE = RequeueScenario(
    name="throttle-requeue",
    group=GROUP,
    title="A provider that asks for a pause",
    claim="A throttled task goes back to its place and costs nothing; until the pause is over nothing starts.",
    burst=BURST,
    throttled=4,
    pause_ms=500,
    checks=(
        BackInItsPlace(),
        NothingHeldForIt(),
        NothingStarts(),
        CompletesOnce(),
        SpentOnce(),
        NothingLeft(),
        InvariantsHold(),
    ),
    quick=True,
)

SCENARIOS = (BUDGET_NAIVE, BUDGET_ATOMIC, THROTTLE_REQUEUE)
