"""The promises about strategies: how many tasks each worker gets, in which order, and with what benefit."""

from collections.abc import Callable, Iterator
from math import ceil

from pydantic import JsonValue

from bench.shared.checks import Promise
from bench.workers.metrics import StrategiesMetrics, Trial, TrialWorker
from bench.workers.scenario import ContestName

Strategies = Promise[StrategiesMetrics]


def _trials(metrics: StrategiesMetrics, contest: ContestName, strategy: str) -> list[Trial]:
    return [each for each in metrics.trials if (each.contest, each.strategy) == (contest, strategy)]


def _only(metrics: StrategiesMetrics, contest: ContestName, strategy: str) -> Trial | None:
    found = _trials(metrics, contest, strategy)
    return found[0] if len(found) == 1 else None


def _slots_were_free(trial: Trial) -> bool:
    return all(each.peak < each.capacity for each in trial.workers)


def all_answered(tasks: int) -> Strategies:
    """Under every strategy each task is executed once, its caller has the right result, and no slot is used twice."""

    def wrong(metrics: StrategiesMetrics) -> Iterator[str]:
        for each in metrics.trials:
            trial = f"{each.contest}, {each.strategy}"
            if not each.completed == each.tasks == each.attempts == tasks:
                errors = "; ".join(each.errors) or "none"
                yield f"{trial}: {each.completed} of {each.tasks} in {each.attempts} attempts; errors: {errors}"
            for worker in each.workers:
                if worker.peak > worker.capacity:
                    yield f"{trial}: {worker.peak} at once on {worker.id} of capacity {worker.capacity}"

    return Strategies(
        "every task answered, in one attempt",
        lambda m: bool(m.trials) and not [*wrong(m)],
        lambda m: [*wrong(m)] or f"{len(m.trials)} times {tasks}",
        f"{tasks} of {tasks} each time; no worker beyond its capacity",
    )


def spreads_evenly(strategy: str, *, within: int) -> Strategies:
    """With free slots everywhere each worker gets as many tasks as any other."""

    def counts(metrics: StrategiesMetrics) -> dict[str, int]:
        trial = _only(metrics, ContestName.SPREAD, strategy)
        return {} if trial is None or not _slots_were_free(trial) else {each.id: each.tasks for each in trial.workers}

    def even(metrics: StrategiesMetrics) -> float:
        found = counts(metrics)
        return sum(found.values()) / len(found) if found else 0

    return Strategies(
        f"{strategy} spreads evenly",
        lambda m: even(m) > 0 and all(abs(count - even(m)) <= within for count in counts(m).values()),
        lambda m: {**counts(m)},
        lambda m: f"each within {within} of {even(m):g}; always a free slot",
    )


def _in_weights(
    name: str,
    strategy: str,
    holds: Callable[[Trial], bool],
    show: Callable[[Trial], list[str]],
    expected: str,
) -> Strategies:
    """Make a promise about every trial of a strategy in the contest of weights; there must be one."""

    def shown(metrics: StrategiesMetrics) -> JsonValue:
        return [" / ".join(show(trial)) for trial in _trials(metrics, ContestName.WEIGHTS, strategy)]

    def kept(metrics: StrategiesMetrics) -> bool:
        trials = _trials(metrics, ContestName.WEIGHTS, strategy)
        return bool(trials) and all(holds(trial) for trial in trials)

    return Strategies(name, kept, shown, expected)


def _parts(trial: Trial) -> list[tuple[TrialWorker, float]]:
    """Return each worker and its weight's part of all weights."""
    total = sum(each.weight for each in trial.workers)
    return [(each, each.weight / total) for each in trial.workers]


def follows_weights(strategy: str, *, within: float) -> Strategies:
    """With free slots everywhere each worker gets its weight's share, in every trial."""
    return _in_weights(
        f"{strategy} follows the weights",
        strategy,
        lambda trial: (
            len({each.weight for each in trial.workers}) > 1
            and _slots_were_free(trial)
            and all(abs(each.share - part) <= within for each, part in _parts(trial))
        ),
        lambda trial: [f"{each.id} {each.share:.1%} of {part:.1%}" for each, part in _parts(trial)],
        f"each within {within * 100:g} percentage points; always a free slot",
    )


def _longest(trial: Trial) -> list[tuple[TrialWorker, int]]:
    """Return each worker and the longest run that its weight allows."""
    return [
        (each, ceil(each.weight / max((other.weight for other in trial.workers if other is not each), default=1)))
        for each in trial.workers
    ]


def smooth(strategy: str) -> Strategies:
    """In no trial is a worker chosen more often in a row than its weight and the largest other weight allow."""
    return _in_weights(
        f"{strategy} is smooth",
        strategy,
        lambda trial: len(trial.workers) > 1 and all(0 < each.longest_run <= most for each, most in _longest(trial)),
        lambda trial: [f"{each.id} {each.longest_run} of {most}" for each, most in _longest(trial)],
        "longest run of each ≤ its weight ÷ the largest other weight, rounded up",
    )


def seed_decides(strategy: str) -> Strategies:
    """The same seed makes the same choices, another seed makes others."""

    def by_seed(metrics: StrategiesMetrics) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for each in _trials(metrics, ContestName.WEIGHTS, strategy):
            found.setdefault(each.seed, []).append(each.choices)
        return found

    def holds(metrics: StrategiesMetrics) -> bool:
        runs = by_seed(metrics).values()
        repeated = any(len(choices) > 1 for choices in runs)
        same = all(len(set(choices)) == 1 and choices[0] for choices in runs)
        return repeated and same and len({choices[0] for choices in runs}) == len(runs) > 1

    return Strategies(
        f"the seed decides what {strategy} chooses",
        holds,
        lambda m: {
            f"seed {seed}": f"{len(choices)} runs, {len(set(choices))} orders" for seed, choices in by_seed(m).items()
        },
        "one order for one seed, another for another",
    )


def sooner(strategy: str, against: str, *, at_most: float) -> Strategies:
    """Where slots are scarce, one strategy finishes the same tasks sooner than another one beside it."""

    def pair(metrics: StrategiesMetrics) -> tuple[Trial, Trial] | None:
        this, that = (_only(metrics, ContestName.MAKESPAN, each) for each in (strategy, against))
        if this is None or that is None or this.tasks != that.tasks or not that.makespan_ms:
            return None
        return this, that

    def holds(metrics: StrategiesMetrics) -> bool:
        match pair(metrics):
            case (this, that):
                return this.makespan_ms <= at_most * that.makespan_ms and not _slots_were_free(that)
            case _:
                return False

    def observed(metrics: StrategiesMetrics) -> JsonValue:
        match pair(metrics):
            case (this, that):
                ratio = this.makespan_ms / that.makespan_ms
                return f"{this.makespan_ms:.0f} ms against {that.makespan_ms:.0f} ms: {ratio:.2f}"
            case _:
                return None

    return Strategies(
        f"{strategy} is done before {against}",
        holds,
        observed,
        f"≤ {at_most:g} × {against}, which used up the slots of a worker",
    )


def shifts_away(strategy: str, against: str, *, of_before: float, of_against: float) -> Strategies:
    """A worker that slows down carries a smaller part of the load, and a smaller one than under another strategy."""

    def loads(metrics: StrategiesMetrics) -> tuple[float, float, float] | None:
        """Return its part of the load before and after, and its part afterwards under the other strategy."""
        this, that = (
            None if trial is None else trial.worker(trial.slowing)
            for trial in (_only(metrics, ContestName.SLOWDOWN, name) for name in (strategy, against))
        )
        if this is None or that is None or not this.load_before or this.load_after is None or that.load_after is None:
            return None
        return this.load_before, this.load_after, that.load_after

    def holds(metrics: StrategiesMetrics) -> bool:
        match loads(metrics):
            case (before, after, other):
                return after <= of_before * before and after <= of_against * other
            case _:
                return False

    def observed(metrics: StrategiesMetrics) -> JsonValue:
        match loads(metrics):
            case (before, after, other):
                return f"{before:.1%} → {after:.1%}; {against}: {other:.1%} afterwards"
            case _:
                return None

    return Strategies(
        f"{strategy} shifts load away from a slow worker",
        holds,
        observed,
        f"its part afterwards ≤ {of_before:g} of before and ≤ {of_against:g} of {against}'s",
    )
