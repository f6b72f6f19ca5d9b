"""Good and bad figures for the checks about workers."""

from bench.workers.checks_health import (
    ANSWERED_ONCE,
    MOVED_ELSEWHERE,
    ONE_CHECK_AT_A_TIME,
    OUT_AT_THRESHOLD,
    back_when_well,
    others_checked,
)
from bench.workers.checks_strategies import (
    all_answered,
    follows_weights,
    seed_decides,
    shifts_away,
    smooth,
    sooner,
    spreads_evenly,
)
from tests.bench.workers.figures import (
    health,
    outage,
    race,
    runs,
    seeds,
    shift,
    together,
    trial,
    trials,
    weighted,
    worker,
)

_EVEN = ("spread", "round-robin")

CASES = [
    (
        all_answered(4),
        trials(trial(*_EVEN)),
        [
            trials(trial(*_EVEN), trial(*_EVEN, completed=3)),
            trials(trial(*_EVEN, tasks=3, completed=3, attempts=3)),
            trials(trial(*_EVEN, attempts=5)),
            trials(trial(*_EVEN, worker("x", peak=5))),
            trials(),
        ],
    ),
    (
        spreads_evenly("round-robin", within=1),
        trials(trial(*_EVEN, worker("x", tasks=3), worker("y", tasks=1))),
        [
            trials(trial(*_EVEN, worker("x", tasks=4), worker("y", tasks=1))),
            trials(trial(*_EVEN, worker("x", peak=4), worker("y"))),
            trials(trial(*_EVEN, worker("x", tasks=0), worker("y", tasks=0))),
            trials(trial("spread", "other")),
            trials(trial("makespan", "round-robin")),
        ],
    ),
    (
        follows_weights("weighted", within=0.02),
        weighted(0.769, 0.231),
        [
            weighted(0.771, 0.229),
            weighted(0.5, 0.5),
            weighted(0.75, 0.25, peak=4),
            weighted(0.5, 0.5, weights=(1, 1)),
            weighted(0.75, 0.25, strategy="weighted-random"),
            together(weighted(0.75, 0.25), weighted(0.5, 0.5)),
        ],
    ),
    (
        smooth("weighted"),
        runs(2, 1, 1),
        [
            runs(3, 1, 1),
            runs(2, 2, 1),
            runs(2, 1, 2),
            runs(2, 1, 0),
            together(runs(2, 1, 1), runs(3, 1, 1)),
            trials(),
        ],
    ),
    (
        seed_decides("weighted-random"),
        seeds((1, "aab"), (1, "aab"), (2, "aba")),
        [
            seeds((1, "aab"), (1, "aba"), (2, "baa")),
            seeds((1, "aab"), (1, "aab"), (2, "aab")),
            seeds((1, "aab"), (2, "aba")),
            seeds((1, "aab"), (1, "aab")),
            seeds((1, ""), (1, ""), (2, "a")),
        ],
    ),
    (
        sooner("least-busy", "round-robin", at_most=0.9),
        race(90),
        [race(91), race(90, peak=3), race(90, tasks=3), trials(trial("makespan", "least-busy"))],
    ),
    (
        shifts_away("least-busy-ewma", "least-busy", of_before=0.5, of_against=0.8),
        shift(0.32, 0.16),
        [shift(0.3, 0.16), shift(0.34, 0.161), shift(0.0, 0.0), shift(None, None), shift(0.9, 0.15, other=0.15)],
    ),
    (
        OUT_AT_THRESHOLD,
        health(),
        [
            health(ill={"failed_checks": {"unhealthy": 4}}),
            health(ill={"failed_checks": {"error": 3}}),
            health(stuck={"failed_checks": {"timeout": 2}}),
            health(stuck={"failed_checks": {"error": 3}}),
            health(stuck={"failed_checks": {"error": 1, "timeout": 2}}),
            health(stuck={"failed_checks": {}}),
            health(stuck={"out_after_ms": None}),
            health(outages=[outage("ill")]),
        ],
    ),
    (
        ONE_CHECK_AT_A_TIME,
        health(),
        [health(stuck={"checks_begun": 2}), health(stuck={"checks_begun": 0}), health(outages=[outage("ill")])],
    ),
    (
        MOVED_ELSEWHERE,
        health(),
        [
            health(ill={"moved": 3}),
            health(ill={"running": 0, "moved": 0}),
            health(stuck={"moved": 3}),
            health(stuck={"running": 0, "moved": 0}),
            health(outages=[outage("ill")]),
        ],
    ),
    (
        ANSWERED_ONCE,
        health(),
        [
            health(completed=99),
            health(errors=["no worker"]),
            health(attempts={"1": 96, "4": 4}),
            health(attempts={"1": 100}),
            health(attempts={"1": 90, "2": 4}),
            health(tasks=0, completed=0, attempts={}),
        ],
    ),
    (
        back_when_well(tasks=5),
        health(),
        [
            health(ill={"restarts": 0}),
            health(stuck={"good_checks": 1}),
            health(ill={"good_checks": None}),
            health(stuck={"early": 1}),
            health(ill={"tasks_after": 4}),
            health(outages=[outage("stuck")]),
        ],
    ),
    (
        others_checked(least=0.5, most=1.5),
        health(checks=9),
        [health(checks=8), health(checks=31), health(usual=0.0), health(bystanders=[])],
    ),
]
