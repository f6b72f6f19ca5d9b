"""Races: what goes wrong in two steps, and cannot in one."""

from bench.checks.budget import NeverOverspent, RefusedForTheBudget
from bench.checks.fairness import InvariantsHold, NothingLeft
from bench.checks.handoff import AllCompleteOnce, KilledAtWork, NaiveLosesOne
from bench.checks.race import NaiveRecoversTwice, OneRecovers
from bench.scenario import RaceScenario
from bench.scenario_controls import BudgetRaceScenario, HandoffScenario
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

RACE_HANDOFF = HandoffScenario(
    name="race-handoff",
    group=GROUP,
    title="A dispatcher that is killed",
    claim="Reserving and handing over are one step, so a dispatcher's death at any moment loses and leaks nothing.",
    kills=20,
    longest_delay_ms=300,
    takes_ms=3,
    cost=100,
    backlog=400,
    pool_slots=8,
    worker_count=2,
    worker_slots=4,
    checks=(NaiveLosesOne(1, 100), KilledAtWork(20), AllCompleteOnce(), NothingLeft(), InvariantsHold()),
)

SCENARIOS = (RACE_BUDGET, RACE_CONTROLLER, RACE_HANDOFF)
