"""Good figures about workers, each with the changes that a test passes."""

from bench.workers.metrics import Bystander, Health, HealthMetrics, Outage, StrategiesMetrics, Trial, TrialWorker


def worker(name: str, **changes) -> TrialWorker:
    whole = {
        "id": name,
        "capacity": 4,
        "weight": 1,
        "tasks": 2,
        "share": 0.5,
        "peak": 2,
        "longest_run": 1,
        "furthest": 0.5,
        "share_before": None,
        "share_after": None,
        "load_before": None,
        "load_after": None,
    }
    return TrialWorker(**(whole | changes))


def trial(contest: str, strategy: str, *workers: TrialWorker, **changes) -> Trial:
    whole = {
        "contest": contest,
        "strategy": strategy,
        "seed": 1,
        "tasks": 4,
        "completed": 4,
        "errors": [],
        "attempts": 4,
        "makespan_ms": 100.0,
        "slowing": None,
        "slows_after": None,
        "slowing_load": [],
        "workers": [*workers] or [worker("x"), worker("y")],
        "choices": "abab",
    }
    return Trial(**(whole | changes))


def trials(*each: Trial) -> StrategiesMetrics:
    return StrategiesMetrics(trials=[*each])


def weighted(
    *shares: float, strategy: str = "weighted", weights: tuple[int, ...] = (3, 1), **changes
) -> StrategiesMetrics:
    """Two workers of weights 3 and 1 that got these shares."""
    workers = [
        worker(name, weight=weight, share=share, **changes)
        for name, weight, share in zip("xy", weights, shares, strict=True)
    ]
    return trials(trial("weights", strategy, *workers))


def runs(*longest: int) -> StrategiesMetrics:
    """Workers of weights 5, 3 and 2 with these longest runs."""
    workers = [
        worker(name, weight=weight, longest_run=run)
        for name, weight, run in zip("xyz", (5, 3, 2), longest, strict=True)
    ]
    return trials(trial("weights", "weighted", *workers))


def together(*each: StrategiesMetrics) -> StrategiesMetrics:
    """The metrics of these trials."""
    return trials(*(one for metrics in each for one in metrics.trials))


def seeds(*each: tuple[int, str]) -> StrategiesMetrics:
    """Trials of weighted-random with these seeds and choices."""
    return trials(*(trial("weights", "weighted-random", seed=seed, choices=choices) for seed, choices in each))


def race(this_ms: float, *, peak: int = 4, **changes) -> StrategiesMetrics:
    """least-busy against round-robin, which takes 100 ms; ``peak``: of round-robin's first worker."""
    return trials(
        trial("makespan", "round-robin", worker("x", peak=peak), worker("y")),
        trial("makespan", "least-busy", makespan_ms=this_ms, **changes),
    )


def shift(before: float | None, after: float | None, other: float = 0.2) -> StrategiesMetrics:
    """The load of the slowing worker under least-busy-ewma, and afterwards under least-busy."""
    slows = {"slowing": "x", "slows_after": 2}
    plain = worker("x", load_before=0.3, load_after=other)
    return trials(
        trial("slowdown", "least-busy", plain, worker("y"), **slows),
        trial("slowdown", "least-busy-ewma", worker("x", load_before=before, load_after=after), worker("y"), **slows),
    )


def outage(how: str = "ill", **changes) -> Outage:
    whole = {
        "worker": f"worker-{how}",
        "how": how,
        "failed_checks": {"unhealthy" if how == "ill" else "timeout": 3},
        "checks_begun": 3 if how == "ill" else 1,
        "out_after_ms": 120.0,
        "running": 4,
        "moved": 4,
        "restarts": 1,
        "good_checks": 2,
        "back_after_ms": 90.0,
        "early": 0,
        "tasks_after": 9,
    }
    return Outage(**(whole | changes))


def health(*, ill=None, stuck=None, checks: int = 20, usual: float = 18.0, **changes) -> HealthMetrics:
    whole = {
        "tasks": 100,
        "completed": 100,
        "errors": [],
        "retries": 2,
        "attempts": {"1": 96, "2": 4},
        "done_again": [],
        "failure_threshold": 3,
        "success_threshold": 2,
        "outages": [outage("ill", **(ill or {})), outage("stuck", **(stuck or {}))],
        "bystanders": [
            Bystander(worker="worker-3", checks=20, expected=20.0, usual=20.0),
            Bystander(worker="worker-4", checks=checks, expected=20.0, usual=usual),
        ],
    }
    return HealthMetrics(health=Health(**(whole | changes)))


NO_TRIALS = trials()
NO_HEALTH = health(
    tasks=0, completed=0, attempts={}, outages=[], bystanders=[], failure_threshold=0, success_threshold=0
)
"""Nothing was measured."""
