"""Good and bad figures for the checks about a dispatcher that is killed."""

from bench.handoff.checks import ALL_COMPLETE_ONCE, killed_at_work, naive_loses_one
from tests.bench.handoff.figures import metrics, orphan

CASES = [
    (
        naive_loses_one(1, 100),
        metrics(),
        [orphan(orphans=[]), orphan(slots=0), orphan(cost=0), orphan(handed_over=1), orphan(next_says="nothing waits")],
    ),
    (
        killed_at_work(2),
        metrics(),
        [
            metrics(kills=1),
            metrics(processes=1),
            metrics(handed_over_before=[9, 0]),
            metrics(unended_at=[0, 8]),
            metrics(handed_over_before=[9]),
        ],
    ),
    (
        ALL_COMPLETE_ONCE,
        metrics(),
        [
            metrics(completed=19),
            metrics(results=19),
            metrics(attempts={"completed": 20, "lost": 1}),
            metrics(tasks=0, completed=0, results=0, attempts={}),
        ],
    ),
]
