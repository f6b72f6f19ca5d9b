"""The metrics of a race of controllers."""

from bench.shared.metrics import Metrics, Part


class RaceSide(Part):
    """How one side of a race ended: the contenders' answers, and the value they fought over."""

    contenders: int
    before: int
    after: int
    answers: dict[str, int]


class RaceMetrics(Metrics):
    """How both sides ended, the repaired one for each number of contenders."""

    naive: RaceSide
    repaired: list[RaceSide]
