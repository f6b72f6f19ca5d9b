"""Good figures of a race of controllers, with the changes that a test passes."""

from bench.races.metrics import RaceMetrics, RaceSide


def side(contenders: int, after: int, **answers: int) -> RaceSide:
    return RaceSide(contenders=contenders, before=2, after=after, answers=answers)


REPAIRED = side(2, 3, recovered=1, cooldown=1)


def metrics(naive: RaceSide | None = None, *repaired: RaceSide) -> RaceMetrics:
    return RaceMetrics(naive=naive or side(2, 4), repaired=[*repaired] or [REPAIRED])


NOTHING = RaceMetrics(naive=side(0, 2), repaired=[])
"""Nothing was measured."""
