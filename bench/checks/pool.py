"""The promises about strategies: who gets how many tasks, in which order, and what that is good for."""

from dataclasses import dataclass
from math import ceil

from pydantic import JsonValue

from bench.checks.verdict import verdict
from bench.figures_pool import PoolTrial, TrialWorker
from bench.results import Check, Metrics
from bench.scenario import Scenario
from bench.scenario_pool import ContestName


def trials(metrics: Metrics, contest: ContestName, strategy: str | None = None) -> list[PoolTrial]:
    """Return a contest's trials, all or those of one strategy."""
    return [
        each
        for each in metrics.pool_trials or []
        if each.contest == contest and (strategy is None or each.strategy == strategy)
    ]


def _only(metrics: Metrics, contest: ContestName, strategy: str) -> PoolTrial | None:
    found = trials(metrics, contest, strategy)
    return found[0] if len(found) == 1 else None


def _slots_were_free(trial: PoolTrial) -> bool:
    return all(each.peak < each.capacity for each in trial.workers)


@dataclass(frozen=True)
class AllAnswered:
    """Under every strategy each task is executed once, its caller has the right result, and no slot is used twice."""

    tasks: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = metrics.pool_trials or []
        wrong = [
            f"{each.contest}, {each.strategy}: {each.completed} of {each.tasks} in {each.attempts} attempts; "
            f"errors: {'; '.join(each.errors) or 'none'}"
            for each in found
            if not each.completed == each.tasks == each.attempts == self.tasks
        ]
        wrong += [
            f"{each.contest}, {each.strategy}: {worker.peak} at once on {worker.id} of capacity {worker.capacity}"
            for each in found
            for worker in each.workers
            if worker.peak > worker.capacity
        ]
        observed: JsonValue = [*wrong] or f"{len(found)} times {self.tasks}" if found else None
        return verdict(
            "every task answered, in one attempt",
            bool(found) and not wrong,
            observed,
            f"{self.tasks} of {self.tasks} each time; no worker beyond its capacity",
        )


@dataclass(frozen=True)
class SpreadsEvenly:
    """With free slots everywhere each worker gets as many tasks as any other."""

    strategy: str
    within: int

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        trial = _only(metrics, ContestName.SPREAD, self.strategy)
        counts = {} if trial is None else {each.id: each.tasks for each in trial.workers}
        even = sum(counts.values()) / len(counts) if counts else 0
        passed = (
            trial is not None
            and even > 0
            and _slots_were_free(trial)
            and all(abs(count - even) <= self.within for count in counts.values())
        )
        return verdict(
            f"{self.strategy} spreads evenly",
            passed,
            {**counts} if counts else None,
            f"each within {self.within} of {even:g}; always a free slot",
        )


@dataclass(frozen=True)
class FollowsWeights:
    """With free slots everywhere each worker gets its weight's share, in every trial."""

    strategy: str
    within: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = trials(metrics, ContestName.WEIGHTS, self.strategy)
        observed: list[JsonValue] = [
            " / ".join(f"{each.id} {each.share:.1%} of {part:.1%}" for each, part in _parts(trial)) for trial in found
        ]
        return verdict(
            f"{self.strategy} follows the weights",
            bool(found) and all(self._follows(trial) for trial in found),
            observed or None,
            f"each within {self.within * 100:g} percentage points; always a free slot",
        )

    def _follows(self, trial: PoolTrial) -> bool:
        return (
            len({each.weight for each in trial.workers}) > 1
            and _slots_were_free(trial)
            and all(abs(each.share - part) <= self.within for each, part in _parts(trial))
        )


def _parts(trial: PoolTrial) -> list[tuple[TrialWorker, float]]:
    """Return each worker and its weight's part of all weights."""
    total = sum(each.weight for each in trial.workers)
    return [(each, each.weight / total) for each in trial.workers]


@dataclass(frozen=True)
class Smooth:
    """In no trial a worker is chosen more often in a row than its weight against the largest other one warrants."""

    strategy: str

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = trials(metrics, ContestName.WEIGHTS, self.strategy)
        observed: list[JsonValue] = [
            " / ".join(f"{each.id} {each.longest_run} of {most}" for each, most in _longest(trial)) for trial in found
        ]
        passed = bool(found) and all(
            len(trial.workers) > 1 and all(0 < each.longest_run <= most for each, most in _longest(trial))
            for trial in found
        )
        return verdict(
            f"{self.strategy} is smooth",
            passed,
            observed or None,
            "longest run of each ≤ its weight ÷ the largest other weight, rounded up",
        )


def _longest(trial: PoolTrial) -> list[tuple[TrialWorker, int]]:
    """Return each worker and the longest run that its weight warrants."""
    return [
        (each, ceil(each.weight / max((other.weight for other in trial.workers if other is not each), default=1)))
        for each in trial.workers
    ]


@dataclass(frozen=True)
class SeedDecides:
    """The same seed makes the same choices, another one others."""

    strategy: str

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        found = trials(metrics, ContestName.WEIGHTS, self.strategy)
        by_seed: dict[int, list[str]] = {}
        for each in found:
            by_seed.setdefault(each.seed, []).append(each.choices)
        repeated = any(len(choices) > 1 for choices in by_seed.values())
        same = all(len(set(choices)) == 1 for choices in by_seed.values())
        differ = len({choices[0] for choices in by_seed.values()}) == len(by_seed) > 1
        observed = {
            f"seed {seed}": f"{len(choices)} runs, {len(set(choices))} orders" for seed, choices in by_seed.items()
        }
        return verdict(
            f"the seed decides what {self.strategy} chooses",
            repeated and same and differ and all(each.choices for each in found),
            {**observed} if observed else None,
            "one order for one seed, another for another",
        )


@dataclass(frozen=True)
class Sooner:
    """Where slots bind, one strategy is done sooner with the same tasks than another one beside it."""

    strategy: str
    against: str
    at_most: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        this = _only(metrics, ContestName.MAKESPAN, self.strategy)
        that = _only(metrics, ContestName.MAKESPAN, self.against)
        expected = f"≤ {self.at_most:g} × {self.against}, which used up the slots of a worker"
        name = f"{self.strategy} is done before {self.against}"
        if this is None or that is None or this.tasks != that.tasks or not that.makespan_ms:
            return verdict(name, False, None, expected)
        ratio = this.makespan_ms / that.makespan_ms
        observed = f"{this.makespan_ms:.0f} ms against {that.makespan_ms:.0f} ms: {ratio:.2f}"
        return verdict(name, ratio <= self.at_most and not _slots_were_free(that), observed, expected)


@dataclass(frozen=True)
class ShiftsAway:
    """A worker that slows down carries a smaller part of the load, and a smaller one than under another strategy."""

    strategy: str
    against: str
    of_before: float
    of_against: float

    def judge(self, scenario: Scenario, metrics: Metrics) -> Check:
        """See ``CheckSpec``."""
        this, that = (
            None if trial is None else trial.worker(trial.slowing)
            for trial in (_only(metrics, ContestName.SLOWDOWN, name) for name in (self.strategy, self.against))
        )
        expected = f"its part afterwards ≤ {self.of_before:g} of before and ≤ {self.of_against:g} of {self.against}'s"
        name = f"{self.strategy} shifts load away from a slow worker"
        if this is None or that is None:
            return verdict(name, False, None, expected)
        before, after, other = this.load_before, this.load_after, that.load_after
        if not before or after is None or other is None:
            return verdict(name, False, None, expected)
        passed = after <= self.of_before * before and after <= self.of_against * other
        return verdict(name, passed, f"{before:.1%} → {after:.1%}; {self.against}: {other:.1%} afterwards", expected)
