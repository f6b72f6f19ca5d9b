"""Good and bad figures for the checks of races."""

from bench.races.checks import NAIVE_RECOVERS_TWICE, ONE_RECOVERS
from tests.bench.races.figures import REPAIRED, metrics, side

CASES = [
    (NAIVE_RECOVERS_TWICE, metrics(), [metrics(side(2, 3))]),
    (
        ONE_RECOVERS,
        metrics(None, REPAIRED, side(8, 3, recovered=1, cooldown=7)),
        [
            metrics(None, REPAIRED, side(8, 4, recovered=2, cooldown=6)),
            metrics(None, REPAIRED, side(8, 4, recovered=1, cooldown=7)),
        ],
    ),
]
