"""Good and bad figures for the checks of budgets and windows."""

from bench.budget.checks import (
    NEVER_OVERSPENT,
    REFUSED_FOR_THE_BUDGET,
    URGENT_HANDED_FIRST,
    URGENT_START_FIRST,
    RaceEnds,
    all_paid_for,
    pool_filled,
    window_kept,
    workers_share,
)
from tests.bench.budget.figures import BROKEN, WINDOW, both, bursts, race, races, run, use

NAIVE = RaceEnds("naive", accepted=4, remaining=100, admitted=2.0, ledger=0.5)
REPAIRED = RaceEnds("repaired", accepted=2, remaining=0, admitted=1.0, ledger=1.0)

CASES = [
    (
        NAIVE,
        races(BROKEN),
        [
            races(race("naive", 2)),
            races(race("naive", 4, admitted=400, spent=200)),
            races(race("naive", 4, admitted=200, spent=100)),
            races(race("repaired", 4, admitted=400, spent=100)),
        ],
    ),
    (
        REPAIRED,
        races(race(), race(contenders=16)),
        [
            races(BROKEN),
            races(race(), race(accepted=3, contenders=16, admitted=300)),
            races(race(rejected=1)),
            races(race(spent=100)),
            races(race(accepted=1, admitted=100, spent=100)),
        ],
    ),
    (
        REFUSED_FOR_THE_BUDGET,
        races(race()),
        [races(race(answers={"completed": 4})), races(race(answers={"completed": 2, "expired": 2})), races(BROKEN)],
    ),
    (
        NEVER_OVERSPENT,
        bursts(run(), sides=(race(), BROKEN)),
        [
            both(use=use(most_promised=201)),
            both(use=use(most_promised=None)),
            both(use=use(by_events=100)),
            both(use=use(most_promised=0, by_events=0, spent=0)),
            races(race(most_promised=300)),
            races(BROKEN),
        ],
    ),
    (all_paid_for(24), both(), [both(completed=23), both(tasks=23, completed=23), both(use=use(admitted=100))]),
    (workers_share(2), both(), [both(workers={"w1": 24}), both(workers={"w1": 8, "w2": 8, "w3": 8})]),
    (URGENT_HANDED_FIRST, both(), [both(handed_too_early=["a:t"]), both(starts_by_priority={"1": 24})]),
    (
        URGENT_START_FIRST,
        both(too_early=["a:t"]),
        [
            both(too_early=["a:t"], overtook=["a:t"]),
            both(starts_by_priority={"1": 24}),
            bursts(run(WINDOW, too_early=["a:t"]), run()),
        ],
    ),
    (
        window_kept(1_000),
        both(),
        [
            bursts(run(WINDOW, closest_ms=999), run()),
            bursts(run(WINDOW, closest_ms=None), run()),
            both(closest_ms=1_000),
            bursts(run(WINDOW)),
            bursts(run()),
        ],
    ),
    (pool_filled(4), both(), [both(peak_active=5), both(peak_active=3), both(could_run=4), bursts(run(WINDOW))]),
]
