"""The race of controllers: a capacity that may recover by one, and controllers that all decide at once."""

from dataclasses import dataclass

from pydantic import JsonValue

from bench.races.checks import NAIVE_RECOVERS_TWICE, ONE_RECOVERS
from bench.shared.scenario import Scenario
from fairlane.config import ControllerConfig


@dataclass(frozen=True, kw_only=True)
class RaceScenario(Scenario):
    """Controllers that decide at the same instant: the naive way, then the product, once per crowd size."""

    capacity: int
    hard_limit: int
    naive_contenders: int
    crowds: tuple[int, ...]
    controller: ControllerConfig

    def settings(self) -> dict[str, JsonValue]:
        """Return capacity, limits and crowd sizes."""
        return {
            "capacity": self.capacity,
            "hard_limit": self.hard_limit,
            "naive_contenders": self.naive_contenders,
            "crowds": list(self.crowds),
            "controller": self.controller.model_dump(mode="json"),
        }


RACE_CONTROLLER = RaceScenario(
    name="race-controller",
    group="races",
    title="Controllers that decide at the same instant",
    claim="Any number of controllers act as one, because the whole decision is one step.",
    reading="The naive side shows the failure, so its result is wrong on purpose. On the repaired side exactly one of "
    "the controllers may have given a slot back.",
    capacity=2,
    hard_limit=4,
    naive_contenders=2,
    crowds=(2, 8),
    controller=ControllerConfig(period_ms=10, cooldown_ms=800, clean_ticks=4),
    checks=(NAIVE_RECOVERS_TWICE, ONE_RECOVERS),
    quick=True,
)
