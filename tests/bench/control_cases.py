"""Good and bad figures for the checks about budgets, windows, throttles and hand-overs."""

from bench.checks.budget import (
    AllPaidFor,
    NeverOverspent,
    PoolFilled,
    RaceEnds,
    RefusedForTheBudget,
    UrgentFirst,
    UrgentHandedFirst,
    WindowKept,
    WorkersShare,
)
from bench.checks.handoff import AllCompleteOnce, KilledAtWork, NaiveLosesOne
from bench.checks.requeue import BackInItsPlace, CompletesOnce, NothingHeldForIt, NothingStarts, SpentOnce
from bench.results import Metrics
from tests.bench.control_figures import BROKEN, both, bursts, handoff, orphan, race, races, requeue, run, use

NAIVE = RaceEnds("naive", accepted=4, remaining=100, admitted=2.0, ledger=0.5)
REPAIRED = RaceEnds("repaired", accepted=2, remaining=0, admitted=1.0, ledger=1.0)
WINDOW = "4 starts per 1,000 ms"

_EACH: list[tuple[object, Metrics, list[Metrics]]] = [
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
        RefusedForTheBudget(),
        races(race()),
        [races(race(told={"completed": 4})), races(race(told={"completed": 2, "expired": 2})), races(BROKEN)],
    ),
    (
        NeverOverspent(),
        Metrics(bursts=[run()], budget_race=[race(), BROKEN]),
        [
            both(use=use(most_promised=201)),
            both(use=use(most_promised=None)),
            both(use=use(by_events=100)),
            both(use=use(most_promised=0, by_events=0, spent=0)),
            races(race(most_promised=300)),
            races(BROKEN),
        ],
    ),
    (AllPaidFor(24), both(), [both(completed=23), both(tasks=23, completed=23), both(use=use(admitted=100))]),
    (WorkersShare(2), both(), [both(workers={"w1": 24}), both(workers={"w1": 8, "w2": 8, "w3": 8})]),
    (UrgentHandedFirst(), both(), [both(handed_too_early=["a:t"]), both(starts_by_priority={"1": 24})]),
    (
        UrgentFirst(),
        both(too_early=["a:t"]),
        [
            both(too_early=["a:t"], overtook=["a:t"]),
            both(starts_by_priority={"1": 24}),
            bursts(run(WINDOW, too_early=["a:t"]), run()),
        ],
    ),
    (
        WindowKept(),
        both(),
        [
            bursts(run(WINDOW, closest_ms=999), run()),
            bursts(run(WINDOW, closest_ms=None), run()),
            both(closest_ms=1_000),
            bursts(run(WINDOW)),
            bursts(run()),
        ],
    ),
    (PoolFilled(4), both(), [both(peak_active=5), both(peak_active=3), both(could_run=4), bursts(run(WINDOW))]),
    (
        BackInItsPlace(),
        requeue(),
        [requeue(overtaken_by=["a:u"]), requeue(state_in_pause="enqueued"), requeue(came_after=0)],
    ),
    (
        NothingHeldForIt(),
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
        NothingStarts(),
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
        CompletesOnce(),
        requeue(),
        [requeue(attempts=["throttled"]), requeue(attempts=["throttled", "completed", "completed"])],
    ),
    (
        SpentOnce(),
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
    (
        NaiveLosesOne(1, 100),
        orphan(),
        [orphan(orphans=[]), orphan(slots=0), orphan(cost=0), orphan(handed_over=1), orphan(next_says="nothing waits")],
    ),
    (
        KilledAtWork(2),
        handoff(),
        [
            handoff(kills=1),
            handoff(processes=1),
            handoff(handed_over_before=[9, 0]),
            handoff(unended_at=[0, 8]),
            handoff(handed_over_before=[9]),
        ],
    ),
    (
        AllCompleteOnce(),
        handoff(),
        [
            handoff(completed=19),
            handoff(results=19),
            handoff(attempts={"completed": 20, "lost": 1}),
            handoff(tasks=0, completed=0, results=0, attempts={}),
        ],
    ),
]

CASES = [(check, good, bad) for check, good, bads in _EACH for bad in bads]
