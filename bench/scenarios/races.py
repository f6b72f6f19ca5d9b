"""Races: what goes wrong in two steps, and cannot in one."""

from bench.checks_race import NaiveRecoversTwice, OneRecovers
from bench.scenario import RaceScenario
from fairlane.config import ControllerConfig

GROUP = "races"

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

SCENARIOS = (RACE_CONTROLLER,)
