"""A pool in simulated time under the reference scheduler: whole tasks, a fixed number of slots."""

import heapq
from collections.abc import Sequence

from fairlane._core import Scheduler
from tests.support.oracle_fluid import Curve, Request


class Simulation:
    """Serves requests. A task of cost c holds its slot for c units of time, and is settled at its actual cost."""

    def __init__(self, weights: Sequence[int], slots: int, quantum: int = 500) -> None:
        self.scheduler = Scheduler(quantum, slots)
        for tenant, weight in enumerate(weights):
            self.scheduler.put_tenant(tenant, weight)
        self.order: list[int] = []
        """The tenant of each dispatched task, in order."""
        self._served = [0.0] * len(weights)
        self._running: list[tuple[float, int]] = []
        self._active = [0] * len(weights)
        self._requests: Sequence[Request] = ()

    def run(self, requests: Sequence[Request], until: float) -> Curve:
        """Serve requests, in the order of arrival, until a moment; a task that runs then counts in part."""
        self._requests = requests
        curve = Curve([0.0], [list(self._served)])
        now, arrived = 0.0, 0
        while now < until:
            arrival = requests[arrived].at if arrived < len(requests) else until
            then = min(until, arrival, self._running[0][0] if self._running else until)
            self._served = [a + n * (then - now) for a, n in zip(self._served, self._active, strict=True)]
            now = then
            while self._running and self._running[0][0] <= now:
                number = heapq.heappop(self._running)[1]
                self._active[requests[number].tenant] -= 1
                self.scheduler.settle(number, requests[number].cost)
            while arrived < len(requests) and requests[arrived].at <= now:
                self.scheduler.submit(requests[arrived].tenant, arrived, requests[arrived].estimate)
                arrived += 1
            self._dispatch(now)
            curve.moments.append(now)
            curve.served.append(list(self._served))
        return curve

    def _dispatch(self, now: float) -> None:
        for tenant, number, *_ in self.scheduler.dispatch(8192, 8192)[0]:
            heapq.heappush(self._running, (now + self._requests[number].cost, number))
            self._active[tenant] += 1
            self.order.append(tenant)
