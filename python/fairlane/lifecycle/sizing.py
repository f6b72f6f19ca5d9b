"""How much to hold for a task, so that only a stated share of a tenant's tasks costs more than was held.

The hold is the estimate times a ratio. For a tenant with n settled tasks, p the overrun probability, the ratio is
the k-th smallest of their actual / estimate, k = ceil((1 - p)(n + 1)). If the next task is like those (exchangeable
with them), its own ratio is equally likely to fall into any of the n + 1 gaps between them, so it exceeds the k-th
with a probability of at most (n + 1 - k) / (n + 1) <= p, whatever the distribution. This is the rank of split
conformal prediction (Vovk, Gammerman and Shafer, 2005). The ratios are kept as a sketch with a fixed relative error,
and its answer is raised by that error: never below the true k-th.
"""

import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

from fairlane._core import RunningQuantile
from fairlane.config import EstimateConfig
from fairlane.domain.limits import MAX_COST, check_integer
from fairlane.errors import InvalidTask
from fairlane.lifecycle.estimate import Estimator

RELATIVE_ERROR: Final = 0.005


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well holds covered the actual costs, as one client has seen them: only its tasks without a given cost."""

    settled: int
    """Completed tasks whose provider reported the usage."""
    covered: int
    """Settled tasks whose actual cost was at most their hold."""
    ratio: float | None = None
    """The factor of one tenant's estimates now; None: holds are not sized, or not yet."""
    unknown: int = 0
    """Completed tasks whose provider reported no usage: charged their hold, and counted nowhere else."""

    @property
    def share(self) -> float | None:
        """``covered / settled``, 0 to 1; None before the first settled task."""
        return self.covered / self.settled if self.settled else None


class Holds:
    """Sizes holds from an estimator and from the settled tasks of each tenant. Bounded memory, no clock."""

    def __init__(self, estimator: Estimator, config: EstimateConfig) -> None:
        self._estimator = estimator
        self._config = config
        self._tenants: OrderedDict[str, _Tenant] = OrderedDict()
        self._seen = Coverage(0, 0)

    def price(self, tenant: str, payload: object) -> tuple[int, int]:
        """Return the estimate of a task and its hold.

        Raises:
            InvalidTask: the estimator raised an error, or returned no possible cost.
        """
        try:
            answer: object = self._estimator.estimate(payload)
        except Exception as error:
            raise InvalidTask(f"cost: the estimator failed: {type(error).__name__}: {error}", field="cost") from error
        estimate = check_integer(answer, field="estimate", lowest=1, highest=MAX_COST)
        known = self._known(tenant)
        ratio = None if known is None else known.ratio
        return estimate, estimate if ratio is None else min(MAX_COST, math.ceil(estimate * ratio))

    def settled(self, tenant: str, *, estimate: int, hold: int, actual: int | None) -> None:
        """Learn from a completed task of a tenant; ``actual`` None: its provider reported no usage."""
        self._seen = _counted(self._seen, hold, actual)
        known = self._known(tenant)
        if known is None:
            known = self._tenants[tenant] = _Tenant(self._config)
            if len(self._tenants) > self._config.tenants:
                self._tenants.popitem(last=False)
        known.learn(estimate, hold, actual)

    def coverage(self, tenant: str | None = None) -> Coverage:
        """Report on one tenant, if it is still remembered, or on all tasks so far."""
        if tenant is None:
            return self._seen
        known = self._tenants.get(tenant)
        return Coverage(0, 0) if known is None else replace(known.seen, ratio=known.ratio)

    def _known(self, tenant: str) -> "_Tenant | None":
        known = self._tenants.get(tenant)
        if known is not None:
            self._tenants.move_to_end(tenant)
        return known


class _Tenant:
    """One tenant's coverage, and the ratios actual / estimate of its last one to two windows of tasks."""

    __slots__ = ("_config", "_older", "_younger", "ratio", "seen")

    def __init__(self, config: EstimateConfig) -> None:
        self._config = config
        self._older = RunningQuantile(RELATIVE_ERROR)
        self._younger = RunningQuantile(RELATIVE_ERROR)
        self.ratio: float | None = None
        self.seen = Coverage(0, 0)

    def learn(self, estimate: int, hold: int, actual: int | None) -> None:
        """Count a task and update the ratio. A task without reported usage does not change the ratio."""
        self.seen = _counted(self.seen, hold, actual)
        config = self._config
        if config.overrun_probability is None or actual is None:
            return
        # Clipping to the bounds changes no order statistic that lies within them.
        ratio = min(max(actual / estimate, config.least_ratio), config.most_ratio)
        self._older.add(ratio)
        if self._older.count > config.window_samples:
            self._younger.add(ratio)
        if self._younger.count >= config.window_samples:
            self._older, self._younger = self._younger, RunningQuantile(RELATIVE_ERROR)
        self._size(config.overrun_probability)

    def _size(self, overrun_probability: float) -> None:
        count = self._older.count
        if count < self._config.enough_samples:
            return
        rank = min(count, math.ceil((1 - overrun_probability) * (count + 1)))
        found = self._older.percentile(100 * (rank - 0.5) / count)
        if found is not None:
            raised = found / (1 - RELATIVE_ERROR)
            self.ratio = min(max(raised, self._config.least_ratio), self._config.most_ratio)


def _counted(seen: Coverage, hold: int, actual: int | None) -> Coverage:
    if actual is None:
        return replace(seen, unknown=seen.unknown + 1)
    return replace(seen, settled=seen.settled + 1, covered=seen.covered + (actual <= hold))
