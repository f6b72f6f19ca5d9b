"""The tables of the scenarios about a pool of workers."""

from collections.abc import Iterator

from bench.figures_pool import Outage, PoolHealth, PoolTrial, TrialWorker
from bench.report.text import Facts, columns, escape, milliseconds, number, table
from bench.results import Metrics

_FIRST_CHOICES = 30


def pool_tables(metrics: Metrics) -> Iterator[tuple[str, list[str]]]:
    """Yield caption and lines of each table."""
    trials = metrics.pool_trials or []
    free = [each for each in trials if each.contest in {"spread", "weights"}]
    if free:
        yield f"Always a free slot: {_legend(free[0])}", _choices(free)
    binding = [each for each in trials if each.contest == "makespan"]
    if binding:
        yield f"Slots bind: {_legend(binding[0])}", _makespans(binding)
    slowing = [each for each in trials if each.contest == "slowdown"]
    if slowing:
        yield f"A worker slows down: {_legend(slowing[0])}", _slowdowns(slowing)
    if metrics.pool_health is not None:
        yield from _health(metrics.pool_health)


def _legend(trial: PoolTrial) -> str:
    workers = ", ".join(
        f"{chr(ord('a') + place)} = {escape(each.id)} ({each.capacity} slots, weight {each.weight})"
        for place, each in enumerate(trial.workers)
    )
    return f"{trial.tasks} tasks over {workers}"


def _choices(trials: list[PoolTrial]) -> list[str]:
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


def _makespans(trials: list[PoolTrial]) -> list[str]:
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


def _slowdowns(trials: list[PoolTrial]) -> list[str]:
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


def _health(found: PoolHealth) -> Iterator[tuple[str, list[str]]]:
    yield "The tasks", columns([("", _tasks(found))])
    yield "The workers that failed", columns([(f"{each.worker}, {each.how}", _outage(each)) for each in found.outages])
    checks = {
        each.worker: f"{each.checks}; before it hung {number(each.usual, 1)} in as much time; "
        f"{number(each.expected, 1)} by the interval"
        for each in found.bystanders
    }
    yield "Checks of the others while one hung", columns([("", checks)])


def _tasks(found: PoolHealth) -> Facts:
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
        "from the beginning of the trouble": f"{milliseconds(each.out_after_ms)} ms",
        "checks begun in the trouble": str(each.checks_begun),
        "tasks it was executing": f"{each.running}, of which {each.moved} were completed elsewhere",
        "restarts until it was back": str(each.restarts),
        "back after": f"{number(each.good_checks, 0)} good checks",
        "from the end of the trouble": f"{milliseconds(each.back_after_ms)} ms",
        "tasks begun there meanwhile": str(each.early),
        "tasks completed there afterwards": number(each.tasks_after, 0),
    }
