"""Weighted max-min shares at every instant: the ideal that no scheduler of whole tasks can reach exactly.

One slot serves one unit of cost per unit of time, and a task occupies at most one slot. So a tenant with k unfinished
tasks can use a rate of at most k. At every instant the tenants' rates are the weighted max-min shares of the slots
under these demands. Within a tenant tasks are served in the order of arrival.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from fairlane import _core

_NOTHING = 1e-6
"""Less than this of a task is left only by rounding."""


@dataclass(frozen=True)
class Request:
    """A task that arrives at a time. Its tenant estimates its cost before, and knows it afterwards."""

    at: float
    tenant: int
    cost: int
    estimate: int


@dataclass
class Curve:
    """Each tenant's service up to some moments, ascending from 0; between two of them it grows evenly."""

    moments: list[float]
    served: list[list[float]]

    def at(self, moment: float) -> list[float]:
        """Return each tenant's service up to a moment."""
        after = min(bisect_right(self.moments, moment), len(self.moments) - 1)
        begin, end = self.moments[after - 1], self.moments[after]
        part = min(1.0, (moment - begin) / (end - begin)) if end > begin else 1.0
        return [a + part * (b - a) for a, b in zip(self.served[after - 1], self.served[after], strict=True)]


def fluid(requests: Sequence[Request], weights: Sequence[int], slots: int, until: float) -> Curve:
    """Serve requests, in the order of arrival, ideally until a moment."""
    queues: list[list[float]] = [[] for _ in weights]
    served = [0.0] * len(weights)
    curve = Curve([0.0], [list(served)])
    now, arrived = 0.0, 0
    while now < until:
        shares = _core.ideal_shares(weights, [len(queue) for queue in queues], slots) or []
        running = [_rates(queue, share) for queue, share in zip(queues, shares, strict=True)]
        arrival = requests[arrived].at if arrived < len(requests) else inf
        ends = [left / rate for queue, rates in zip(queues, running, strict=True) for left, rate in zip(queue, rates)]  # noqa: B905
        step = max(0.0, min([until - now, arrival - now, *ends]))
        for tenant, rates in enumerate(running):
            served[tenant] += sum(rates) * step
            first = [left - rate * step for left, rate in zip(queues[tenant], rates)]  # noqa: B905
            queues[tenant][: len(rates)] = [left for left in first if left > _NOTHING]
        now += step
        while arrived < len(requests) and requests[arrived].at <= now:
            queues[requests[arrived].tenant].append(float(requests[arrived].cost))
            arrived += 1
        curve.moments.append(now)
        curve.served.append(list(served))
    return curve


def _rates(queue: list[float], share: float) -> list[float]:
    """Give the first tasks a slot each, and the next one what is left of the share."""
    whole = min(len(queue), int(share + _NOTHING))
    rest = share - whole
    return [1.0] * whole + ([rest] if rest > _NOTHING and whole < len(queue) else [])
