"""Good and bad figures for the checks about a throttled task."""

from bench.requeue.checks import BACK_IN_ITS_PLACE, COMPLETES_ONCE, NOTHING_HELD_FOR_IT, NOTHING_STARTS, SPENT_ONCE
from tests.bench.budget.figures import use
from tests.bench.requeue.figures import requeue

CASES = [
    (
        BACK_IN_ITS_PLACE,
        requeue(),
        [requeue(overtaken_by=["a:u"]), requeue(state_in_pause="enqueued"), requeue(came_after=0)],
    ),
    (
        NOTHING_HELD_FOR_IT,
        requeue(),
        [
            requeue(held_after=100),
            requeue(held_before=0),
            requeue(failures=1),
            requeue(failures=None),
            requeue(calls_seen=[2]),
            requeue(calls_seen=[]),
        ],
    ),
    (
        NOTHING_STARTS,
        requeue(),
        [
            requeue(starts_in_pause=["a:u"]),
            requeue(first_start_ms=499),
            requeue(first_start_ms=None),
            requeue(paused_ms=None),
            requeue(paused_ms=20),
            requeue(handed_over=[]),
            requeue(held_back=0),
        ],
    ),
    (
        COMPLETES_ONCE,
        requeue(),
        [requeue(attempts=["throttled"]), requeue(attempts=["throttled", "completed", "completed"])],
    ),
    (
        SPENT_ONCE,
        requeue(),
        [
            requeue(charged=200),
            requeue(charged=0),
            requeue(use=use(spent=100)),
            requeue(use=use(by_events=300)),
            requeue(use=use(admitted=300)),
            requeue(use=use(held=100, spent=100)),
        ],
    ),
]
