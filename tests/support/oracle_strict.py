"""A naive reference for the policies `priority` and `fifo`: look at every tenant's first task, take the smallest.

It has the operations of the Rust scheduler, so that the same worlds can run on it.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace


@dataclass
class _Task:
    tenant: int
    cost: int
    key: tuple[int, int]
    in_flight: bool = False


@dataclass
class _Tenant:
    weight: int = 1
    slot_ceiling: int = 0
    cost_ceiling: int = 0
    ratio: int = 1000
    slots: int = 0
    cost: int = 0
    place: str = "idle"
    queue: list[int] = field(default_factory=list)


class StrictOrder:
    """Tasks go by priority and arrival (or by arrival alone) across all tenants; ceilings hold tenants back."""

    def __init__(self, quantum: int, capacity: int, *, by_arrival: bool) -> None:
        self._quantum = quantum
        self._capacity = capacity
        self._by_arrival = by_arrival
        self._cost_ceiling = 0
        self._tenants: dict[int, _Tenant] = {}
        self._tasks: dict[int, _Task] = {}
        self._arrived = 0
        self._fence = 0
        self._epoch = 0

    def put_tenant(self, tenant: int, weight: int, slot_ceiling: int = 0, cost_ceiling: int = 0) -> None:
        entry = self._tenants.setdefault(tenant, _Tenant())
        entry.weight, entry.slot_ceiling, entry.cost_ceiling = weight, slot_ceiling, cost_ceiling
        self._look(entry)

    def set_capacity(self, capacity: int) -> None:
        self._capacity = capacity

    def set_pool_cost_ceiling(self, cost_ceiling: int) -> None:
        self._cost_ceiling = cost_ceiling

    def submit(self, tenant: int, task: int, cost: int, priority: int) -> None:
        if self._hopeless(self._tenants[tenant], cost):
            raise ValueError("cost")
        self._arrived += 1
        key = (0 if self._by_arrival else priority, self._arrived)
        self._tasks[task] = _Task(tenant, cost, key)
        self._queue(task)

    def dispatch(self, limit: int, places: int) -> tuple[list[tuple[int, int, int, int, float, int]], list[int], bool]:
        placed: list[tuple[int, int, int, int, float, int]] = []
        rejected: list[int] = []
        while len(placed) < min(limit, places) and self._slots() < self._capacity:
            runnable = self.calendar()
            if not runnable:
                break
            index = runnable[0][1]
            tenant = self._tenants[index]
            number = tenant.queue[0]
            task = self._tasks[number]
            if self._hopeless(tenant, task.cost):
                rejected.append(number)
                self._end(number)
            elif reason := self._blocked(tenant, task.cost):
                tenant.place = reason
            elif self._cost_ceiling and self._cost() + task.cost > self._cost_ceiling:
                break
            else:
                self._fence += 1
                placed.append((index, number, self._fence, max(1, -(-task.cost * tenant.ratio // 1000)), 0, 0))
                self._take(number)
        return placed, rejected, False

    def settle(self, task: int, actual: int, good: bool = True) -> None:
        tenant, cost = self._tenants[self._tasks[task].tenant], self._tasks[task].cost
        if good:
            observed = min(2**20, 1000 * actual // cost)
            tenant.ratio = max(1, min(1000, tenant.ratio + (observed - tenant.ratio) // 8))
        self._end(task)

    def fail_retry(self, task: int) -> None:
        self._leave(task)
        self._queue(task)

    def give_back(self, task: int, wait: bool = False) -> None:
        self._leave(task)
        if wait:
            self._look(self._tenants[self._tasks[task].tenant])
        else:
            self._queue(task)

    def resume(self, task: int) -> None:
        self._queue(task)

    def cancel(self, task: int) -> None:
        self._end(task)

    def pool(self) -> SimpleNamespace:
        return SimpleNamespace(
            quantum=self._quantum, capacity=self._capacity, cost_ceiling=self._cost_ceiling, slots=self._slots(),
            cost=self._cost(), virtual_time=0, round=0, epoch=self._epoch, live=len(self._tasks),
        )  # fmt: skip

    def tenant(self, tenant: int) -> SimpleNamespace:
        entry = self._tenants[tenant]
        parked_by = entry.place if entry.place in {"slots", "cost"} else None
        return SimpleNamespace(
            **vars(entry), virtual_time=0, deficit=0, owed=0, pending=len(entry.queue), parked_by=parked_by
        )

    def pending(self, tenant: int) -> list[int]:
        return list(self._tenants[tenant].queue)

    def calendar(self) -> list[tuple[tuple[int, int], int]]:
        """List the tenants that may go, by their first task."""
        runnable = [(index, tenant) for index, tenant in self._tenants.items() if tenant.place == "calendar"]
        return sorted((self._tasks[tenant.queue[0]].key, index) for index, tenant in runnable)

    # ----------------------------------------------------------------------------------------------------------

    def _slots(self) -> int:
        return sum(tenant.slots for tenant in self._tenants.values())

    def _cost(self) -> int:
        return sum(tenant.cost for tenant in self._tenants.values())

    def _hopeless(self, tenant: _Tenant, cost: int) -> bool:
        return any(0 < ceiling < cost for ceiling in (tenant.cost_ceiling, self._cost_ceiling))

    def _blocked(self, tenant: _Tenant, cost: int) -> str:
        if tenant.slot_ceiling and tenant.slots >= tenant.slot_ceiling:
            return "slots"
        return "cost" if tenant.cost_ceiling and tenant.cost + cost > tenant.cost_ceiling else ""

    def _look(self, tenant: _Tenant) -> None:
        """After a change: a tenant without tasks is idle; a parked tenant is released once its first task could go."""
        if not tenant.queue:
            tenant.place = "idle"
            return
        cost = self._tasks[tenant.queue[0]].cost
        if tenant.place == "idle" or self._hopeless(tenant, cost) or not self._blocked(tenant, cost):
            tenant.place = "calendar"

    def _queue(self, number: int) -> None:
        tenant = self._tenants[self._tasks[number].tenant]
        tenant.queue.append(number)
        tenant.queue.sort(key=lambda each: self._tasks[each].key)
        self._look(tenant)

    def _take(self, number: int) -> None:
        task = self._tasks[number]
        tenant = self._tenants[task.tenant]
        tenant.queue.remove(number)
        tenant.slots += 1
        tenant.cost += task.cost
        task.in_flight = True
        self._look(tenant)

    def _leave(self, number: int) -> None:
        task = self._tasks[number]
        tenant = self._tenants[task.tenant]
        if number in tenant.queue:
            tenant.queue.remove(number)
        if task.in_flight:
            tenant.slots -= 1
            tenant.cost -= task.cost
            task.in_flight = False

    def _end(self, number: int) -> None:
        self._leave(number)
        tenant = self._tenants[self._tasks[number].tenant]
        del self._tasks[number]
        self._epoch += not self._tasks
        self._look(tenant)
