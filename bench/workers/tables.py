"""The tables of the scenarios about workers."""

from collections.abc import Iterator

from bench.shared.kind import Table
from bench.shared.text import Facts, columns, duration, escape, number, table
from bench.workers.metrics import Health, HealthMetrics, Outage, StrategiesMetrics, Trial, TrialWorker

STRATEGY_TERMS = {
    "trials": (
        "A **choice** is an attempt that begins. The **longest run** is the most choices in a row that fell on one "
        "worker, **furthest from its weight's share** the largest distance of its count from what its weight says, "
        "at any moment. The **load** is the time that workers spent in executing. **Makespan** is the time from the "
        "first assignment to the last result; slots **bind** when a worker's are all taken."
    ),
}
HEALTH_TERMS = {
    "health": (
        "A worker is **taken out** when its checks have failed so often in a row as the failure threshold says: it "
        "counts as failed, what it executes is tried elsewhere, and the supervisor starts it again. It is **back** "
        "when enough checks in a row were good. A check that gives no answer in its time counts as failed, and as "
        "failed again for each further one that is due while it still hangs."
    ),
}
_FIRST_CHOICES = 30


def strategy_tables(metrics: StrategiesMetrics) -> Iterator[Table]:
    """Yield the tables of the contests that were held."""
    free = [each for each in metrics.trials if each.contest in {"spread", "weights"}]
    if free:
        yield f"Always a free slot: {_legend(free[0])}", _choices(free)
    binding = [each for each in metrics.trials if each.contest == "makespan"]
    if binding:
        yield f"Slots bind: {_legend(binding[0])}", _makespans(binding)
    slowing = [each for each in metrics.trials if each.contest == "slowdown"]
    if slowing:
        yield f"A worker slows down: {_legend(slowing[0])}", _slowdowns(slowing)


def _legend(trial: Trial) -> str:
    workers = ", ".join(
        f"{chr(ord('a') + place)} = {escape(each.id)} ({each.capacity} slots, weight {each.weight})"
        for place, each in enumerate(trial.workers)
    )
    return f"{trial.tasks} tasks over {workers}"


def _choices(trials: list[Trial]) -> list[str]:
    return table(
        [
            ("Strategy", "left"),
            ("Seed", "right"),
            ("Tasks", "right"),
            ("Shares", "right"),
            ("Longest run", "right"),
            ("Furthest from its weight's share, tasks", "right"),
            (f"First {_FIRST_CHOICES} choices", "left"),
        ],
        [
            [
                escape(each.strategy),
                str(each.seed),
                _slashed([str(worker.tasks) for worker in each.workers]),
                _slashed([f"{worker.share:.1%}" for worker in each.workers]),
                _slashed([str(worker.longest_run) for worker in each.workers]),
                _slashed([number(worker.furthest, 1) for worker in each.workers]),
                escape(each.choices[:_FIRST_CHOICES]),
            ]
            for each in trials
        ],
    )


def _makespans(trials: list[Trial]) -> list[str]:
    return table(
        [("Strategy", "left"), ("Makespan ms", "right"), ("Tasks", "right"), ("Most at once", "right")],
        [
            [
                escape(each.strategy),
                number(each.makespan_ms, 0),
                _slashed([str(worker.tasks) for worker in each.workers]),
                _slashed([f"{worker.peak} of {worker.capacity}" for worker in each.workers]),
            ]
            for each in trials
        ],
    )


def _slowdowns(trials: list[Trial]) -> list[str]:
    return table(
        [
            ("Strategy", "left"),
            ("Slows down", "left"),
            ("Its load before", "right"),
            ("After", "right"),
            ("Its choices before", "right"),
            ("After", "right"),
            ("Makespan ms", "right"),
        ],
        [
            [
                escape(each.strategy),
                escape(f"{each.slowing} after {each.slows_after} choices"),
                *_shares(each.worker(each.slowing)),
                number(each.makespan_ms, 0),
            ]
            for each in trials
        ],
    )


def _shares(worker: TrialWorker | None) -> list[str]:
    if worker is None:
        return ["–"] * 4
    shares = (worker.load_before, worker.load_after, worker.share_before, worker.share_after)
    return ["–" if each is None else f"{each:.1%}" for each in shares]


def _slashed(values: list[str]) -> str:
    return " / ".join(values)


def health_tables(metrics: HealthMetrics) -> Iterator[Table]:
    """Yield the tables of tasks, of the workers that failed, and of the others."""
    found = metrics.health
    yield "The tasks", columns([("", _tasks(found))])
    yield "The workers that failed", columns([(f"{each.worker}, {each.how}", _outage(each)) for each in found.outages])
    checks = {
        each.worker: f"{each.checks}; before it hung {number(each.usual, 1)} in as much time; "
        f"{number(each.expected, 1)} by the interval"
        for each in found.bystanders
    }
    yield "Checks of the others while one hung", columns([("", checks)])


def _tasks(found: Health) -> Facts:
    return {
        "answered": f"{number(found.completed, 0)} of {number(found.tasks, 0)}",
        "attempts": ", ".join(f"{number(count, 0)} tasks in {taken}" for taken, count in found.attempts.items()),
        "attempts allowed": str(1 + found.retries),
        "done, lost with the worker all the same, and done again": str(len(found.done_again)),
        "errors": "; ".join(found.errors) or "none",
    }


def _outage(each: Outage) -> Facts:
    return {
        "taken out after failed checks": ", ".join(f"{count} {how}" for how, count in each.failed_checks.items()),
        "from the beginning of the trouble": duration(each.out_after_ms),
        "checks begun in the trouble": str(each.checks_begun),
        "tasks it was executing": f"{each.running}, of which {each.moved} were completed elsewhere",
        "restarts until it was back": str(each.restarts),
        "back after": f"{number(each.good_checks, 0)} good checks",
        "from the end of the trouble": duration(each.back_after_ms),
        "tasks begun there meanwhile": str(each.early),
        "tasks completed there afterwards": number(each.tasks_after, 0),
    }
