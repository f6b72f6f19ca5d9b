"""Scenarios about budgets: a burst under a window of starts and without one, and a race for a budget."""

from dataclasses import asdict, dataclass

from pydantic import JsonValue

from bench.budget.checks import (
    NEVER_OVERSPENT,
    REFUSED_FOR_THE_BUDGET,
    URGENT_HANDED_FIRST,
    URGENT_START_FIRST,
    RaceEnds,
    all_paid_for,
    pool_filled,
    window_kept,
    workers_share,
)
from bench.budget.metrics import Side
from bench.shared.burst import STANDARD_BURST, Burst
from bench.shared.checks import AUDIT_CLEAN, NOTHING_LEFT
from bench.shared.scenario import Scenario
from fairlane.config import BudgetConfig, TenantConfig, WindowConfig
from fairlane.domain.policy import BudgetPolicy


@dataclass(frozen=True, kw_only=True)
class BudgetRace:
    """Contenders for one budget, released together by a barrier; each wants its one task let through."""

    contenders: int
    cost: int
    budget_units: int

    def tenant(self) -> TenantConfig:
        """Return how the tenant is registered."""
        return TenantConfig(budget=BudgetConfig(limit_units=self.budget_units, when_exhausted=BudgetPolicy.REJECT))


@dataclass(frozen=True, kw_only=True)
class BudgetScenario(Scenario):
    """The burst under a window of starts, the same without one, then the race as ``side`` runs it."""

    side: Side
    burst: Burst
    window: WindowConfig
    race: BudgetRace

    def settings(self) -> dict[str, JsonValue]:
        """Return burst, window and race."""
        return {
            "side": self.side,
            "burst": self.burst.settings(),
            "window": self.window.model_dump(mode="json"),
            "race": asdict(self.race),
        }


@dataclass(frozen=True, kw_only=True)
class BudgetRaceScenario(Scenario):
    """The race for a budget alone: the naive way, then the product, once per crowd size."""

    race: BudgetRace
    crowds: tuple[int, ...]

    def settings(self) -> dict[str, JsonValue]:
        """Return the race and the crowd sizes."""
        return {"race": asdict(self.race), "crowds": list(self.crowds)}


WINDOW = WindowConfig(limit=4, interval_ms=1_000)
RACE = BudgetRace(contenders=4, cost=100, budget_units=200)

NAIVE_ENDS = RaceEnds("naive", accepted=4, remaining=100, admitted=2.0, ledger=0.5)
REPAIRED_ENDS = RaceEnds("repaired", accepted=2, remaining=0, admitted=1.0, ledger=1.0)

_BURST_CHECKS = (
    all_paid_for(24),
    workers_share(2),
    URGENT_HANDED_FIRST,
    URGENT_START_FIRST,
    window_kept(WINDOW.interval_ms),
    pool_filled(4),
    NOTHING_LEFT,
    AUDIT_CLEAN,
)

BUDGET_NAIVE = BudgetScenario(
    name="budget-naive",
    group="budget",
    title="A budget that is read, judged, and then written",
    claim="The problem is real: four tasks that fit a budget only by twos are all let through, and the ledger does not "
    "even know.",
    reading="Only the race is naive, and its result is wrong on purpose: every contender read the same 200 before any "
    "of them wrote. The load beside it went through the product, so its figures match those of "
    "`budget-atomic`.",
    side="naive",
    burst=STANDARD_BURST,
    window=WINDOW,
    race=RACE,
    checks=(NAIVE_ENDS, *_BURST_CHECKS),
)

BUDGET_ATOMIC = BudgetScenario(
    name="budget-atomic",
    group="budget",
    title="A budget that is judged and held in one step",
    claim="What the budget pays for is let through and no more, at every instant; a window holds starts apart.",
    reading="All tasks are waiting before the pool may start any. Under the window the speed is the window's: four "
    "start at once, and four more each second. The first four need not wait, so 24 tasks need five full "
    "intervals and not six, and end in a little over 5 s: 4.7 tasks per second. Without the window the pool's "
    "four slots decide. The urgent tasks were submitted last and must be handed over and start first; only a "
    "worker that asks late for an urgent task that it has can let another worker's start come before. In the "
    "race two of four tasks are refused because the budget is used up.",
    side="repaired",
    burst=STANDARD_BURST,
    window=WINDOW,
    race=RACE,
    checks=(REPAIRED_ENDS, REFUSED_FOR_THE_BUDGET, NEVER_OVERSPENT, *_BURST_CHECKS),
)

RACE_BUDGET = BudgetRaceScenario(
    name="race-budget",
    group="races",
    title="Contenders for a budget at the same instant",
    claim="However many want the same budget at once, it lets through what it pays for and nothing more.",
    reading="The naive side shows the failure, so its result is wrong on purpose. On the repaired side every "
    "contender asks for a decision of its own at the same instant; which two win is chance, that it is two is "
    "not.",
    race=RACE,
    crowds=(4, 16),
    checks=(NAIVE_ENDS, REPAIRED_ENDS, REFUSED_FOR_THE_BUDGET, NEVER_OVERSPENT),
    quick=True,
)
