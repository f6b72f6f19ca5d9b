"""The promises about controllers that decide at the same instant."""

from bench.races.metrics import RaceMetrics, RaceSide
from bench.shared.checks import Each, Promise
from fairlane.domain.policy import CapacityReason

NAIVE_RECOVERS_TWICE = Promise[RaceMetrics](
    "naive: every controller recovers",
    lambda m: m.naive.contenders > 1 and m.naive.after == m.naive.before + m.naive.contenders,
    lambda m: f"{m.naive.before} → {m.naive.after}",
    "+1 from each of them",
)
"""The failure is real: every naive controller adds its own slot."""


def _one_recovers(side: RaceSide) -> bool:
    one = {CapacityReason.RECOVERED.value: 1, CapacityReason.COOLDOWN.value: side.contenders - 1}
    return side.after == side.before + 1 and side.answers == one


def _answers(side: RaceSide) -> str:
    answers = ", ".join(f"{count} × {answer}" for answer, count in side.answers.items())
    return f"{side.before} → {side.after}; {answers}"


ONE_RECOVERS = Each[RaceMetrics, RaceSide](
    "repaired: one recovers",
    lambda m: {f"{side.contenders} controllers": side for side in m.repaired},
    _one_recovers,
    _answers,
    "+1 in all; every other controller answered `cooldown`",
)
