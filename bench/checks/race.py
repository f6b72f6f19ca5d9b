"""The promises about controllers that decide at the same instant."""

from dataclasses import dataclass

from bench.checks.verdict import verdict
from bench.figures import RaceSide
from bench.results import Check, Metrics
from bench.scenario import Scenario
from fairlane.domain.policy import CapacityReason


@dataclass(frozen=True)
class NaiveRecoversTwice:
    """The failure is real: every naive controller adds its own slot."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        side = metrics.naive
        passed = side is not None and side.contenders > 1 and side.after == side.before + side.contenders
        observed = None if side is None else f"{side.before} → {side.after}"
        return verdict("naive: every controller recovers", passed, observed, "+1 from each of them")


@dataclass(frozen=True)
class OneRecovers:
    """Repaired: one controller recovers by one, all others see its cool-down."""

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        sides = metrics.repaired or []
        passed = bool(sides) and all(
            side.after == side.before + 1
            and side.answers == {CapacityReason.RECOVERED.value: 1, CapacityReason.COOLDOWN.value: side.contenders - 1}
            for side in sides
        )
        return verdict(
            "repaired: one recovers",
            passed,
            {f"{side.contenders} controllers": f"{side.before} → {side.after}; {_answers(side)}" for side in sides},
            "+1 in all; every other controller answered `cooldown`",
        )


def _answers(side: RaceSide) -> str:
    return ", ".join(f"{count} × {answer}" for answer, count in side.answers.items())
