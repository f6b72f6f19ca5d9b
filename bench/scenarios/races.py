"""Races: what goes wrong in two steps, and cannot in one."""

from bench.checks_budget import NeverOverspent, RefusedForTheBudget
from bench.checks_race import NaiveRecoversTwice, OneRecovers
from bench.scenario import RaceScenario
from bench.scenario_controls import BudgetRaceScenario
from bench.scenarios.controls import NAIVE_ENDS, RACE, REPAIRED_ENDS
from fairlane.config import ControllerConfig

GROUP = "races"

RACE_BUDGET = BudgetRaceScenario(
    name="race-budget",
    group=GROUP,
    title="Contenders for a budget at the same instant",
    claim="However many want the same budget at once, it lets through what it pays for and nothing more.",
    race=RACE,
    crowds=(4, 16),
    checks=(NAIVE_ENDS, REPAIRED_ENDS, RefusedForTheBudget(), NeverOverspent()),
    quick=True,
)

RACE_CONTROLLER = RaceScenario(
    name="race-controller",
    group=GROUP,
    title="Controllers that decide at the same instant",
    claim="Any number of controllers act as one, because the whole decision is one step.",
    capacity=2,
    hard_limit=4,
    naive_contenders=2,
    crowds=(2, 8),
    controller=ControllerConfig(period_ms=10, cooldown_ms=800, clean_ticks=4),
    checks=(NaiveRecoversTwice(), OneRecovers()),
    quick=True,
)

SCENARIOS = (RACE_BUDGET, RACE_CONTROLLER)
