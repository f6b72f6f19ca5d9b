"""Random operations on one pool. A `pick` chooses among the candidates that exist when the operation is applied."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from fairlane.domain.policy import QueuePolicy

T = TypeVar("T")


class Source(Protocol):
    """A source of choices: `random.Random`, or Hypothesis, which can then shrink them."""

    def randint(self, a: int, b: int) -> int: ...
    def choice(self, seq: Sequence[T]) -> T: ...


@dataclass(frozen=True)
class Limits:
    """A tenant's weight and ceilings; 0 = no ceiling."""

    weight: int = 1
    slots: int = 0
    cost: int = 0


@dataclass(frozen=True)
class Setup:
    """The pool and the tenants with which a world begins."""

    quantum: int
    tenants: tuple[Limits, ...]
    capacity: int = 6
    policy: QueuePolicy = QueuePolicy.WDRR


@dataclass(frozen=True)
class Join:
    """A new tenant is registered."""

    limits: Limits


@dataclass(frozen=True)
class Leave:
    """A tenant is removed; refused while it has tasks."""

    tenant: int


@dataclass(frozen=True)
class Change:
    tenant: int
    limits: Limits


@dataclass(frozen=True)
class Submit:
    """One call with some tasks, each as (tenant pick, cost, priority)."""

    tasks: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Dispatch:
    """One call that offers some places at each worker, and leaves some of them as the plan for the next submits."""

    limit: int
    offer: tuple[int, int]
    keep: int = 0
    knows: bool = True
    """Whether the caller knows how many places of the former plan are left."""


@dataclass(frozen=True)
class Start:
    worker: int


@dataclass(frozen=True)
class Complete:
    """One call that settles some running tasks, each as (pick, actual in permille of its estimate)."""

    tasks: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Turn:
    """As Complete, by a busy worker, which also takes as many of the next tasks."""

    tasks: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Fail:
    """A running task failed at no cost: for good, or with another attempt if it has any left."""

    task: int
    for_good: bool


@dataclass(frozen=True)
class Throttle:
    """The provider throttles a running task, and may name a pause. None: it names no usable pause."""

    task: int
    pause_ms: int | None


@dataclass(frozen=True)
class Release:
    """A worker hands a task back, started or not."""

    task: int


@dataclass(frozen=True)
class Cancel:
    """One call that cancels some live tasks, in any state."""

    tasks: tuple[int, ...]


@dataclass(frozen=True)
class LoseWorker:
    """An incarnation ends, by eviction or because a newer one takes its name; a newer one always follows."""

    worker: int
    by_name: bool


@dataclass(frozen=True)
class SetCapacity:
    slots: int


@dataclass(frozen=True)
class SetPoolCeiling:
    """The pool's cost ceiling; 0 = none."""

    cost: int


@dataclass(frozen=True)
class Pause:
    duration_ms: int


@dataclass(frozen=True)
class Resume:
    pass


@dataclass(frozen=True)
class Advance:
    """Time passes."""

    duration_ms: int


Operation = (
    Join | Leave | Change | Submit | Dispatch | Start | Complete | Turn | Fail | Throttle | Release | Cancel
    | LoseWorker | SetCapacity | SetPoolCeiling | Pause | Resume | Advance
)  # fmt: skip

_SHARES = {
    Submit: 14, Dispatch: 22, Start: 18, Complete: 12, Turn: 10, Fail: 4, Throttle: 6, Release: 3, Cancel: 4,
    Advance: 8, Change: 4, Join: 2, Leave: 2, SetCapacity: 2, SetPoolCeiling: 2, LoseWorker: 2, Pause: 1, Resume: 2,
}  # fmt: skip
BUSY = tuple(kind for kind, share in _SHARES.items() for _ in range(share))
DRAINING = tuple(kind for kind in BUSY if kind not in {Submit, Pause, Fail, LoseWorker})
"""Without arrivals the pool goes idle, and a new epoch begins."""


def draw_cost(source: Source, largest: int = 100_000) -> int:
    """Draw a cost: small, any, the largest, or a round one, so that sums meet ceilings exactly."""
    small, any_cost, round_cost = source.randint(1, 100), source.randint(1, largest), 1000 * source.randint(1, 10)
    return source.choice([small, any_cost, largest, round_cost])


def draw_ceiling(source: Source) -> int:
    """Draw a ceiling on costs: none, any, or a round one."""
    return source.choice([0, 0, 0, source.randint(1_000, 300_000), 1000 * source.randint(5, 30)])


def draw_offer(source: Source) -> int:
    """Draw the number of tasks that a worker offers to take; below 0, its share."""
    return source.choice([64, source.randint(0, 3), source.randint(-3, 3)])


def draw_limits(source: Source) -> Limits:
    """Draw weights up to 1,000 : 1, and sometimes ceilings, some below the cost of tasks that are already queued."""
    return Limits(
        weight=source.choice([1, 1000, source.randint(1, 10), source.randint(1, 1000)]),
        slots=source.choice([0, 0, source.randint(1, 3)]),
        cost=draw_ceiling(source),
    )


def draw_setup(source: Source) -> Setup:
    """Draw a pool with a small, a usual or a large quantum, and its first tenants."""
    quantum = source.choice([1, 1000, 1_000_000, source.randint(1, 100_000)])
    tenants = tuple(draw_limits(source) for _ in range(source.randint(2, 6)))
    return Setup(quantum, tenants, source.choice([1, 6, 64]))


def draw_operation(source: Source, kinds: Sequence[type[Operation]] = BUSY) -> Operation:
    """Draw one operation of one of these kinds."""
    pick = source.randint(0, 2**16)
    kind = source.choice(kinds)
    if kind is Submit:
        count = source.choice([1, 1, 2, source.randint(1, 8)])
        tenants = [source.choice([pick, source.randint(0, 2**16)]) for _ in range(count)]
        return Submit(tuple((tenant, draw_cost(source), source.choice([100, 100, 0, 255])) for tenant in tenants))
    if kind is Dispatch:
        limit = source.choice([1, 3, 64])
        keep = source.choice([0, 8, source.randint(0, 64)])
        return Dispatch(limit, (draw_offer(source), draw_offer(source)), keep, source.choice([True, True, False]))
    if kind in {Complete, Turn}:
        count = source.choice([1, 4, source.randint(1, 8)])
        permilles = [source.choice([0, 300, 1000, source.randint(0, 3000)]) for _ in range(count)]
        return kind(tuple((pick + i, permille) for i, permille in enumerate(permilles)))
    if kind is Throttle:
        return Throttle(pick, source.choice([0, 0, None, source.randint(1, 50)]))
    if kind is Cancel:
        return Cancel(tuple(pick + i for i in range(source.choice([1, 1, 3]))))
    if kind in {Fail, LoseWorker}:
        return kind(pick, source.choice([False, True]))
    if kind is Change:
        return Change(pick, draw_limits(source))
    if kind is Join:
        return Join(draw_limits(source))
    if kind is SetCapacity:
        return SetCapacity(source.choice([1, 6, 64, source.randint(1, 12)]))
    if kind is SetPoolCeiling:
        return SetPoolCeiling(draw_ceiling(source))
    if kind in {Pause, Advance}:
        return kind(source.randint(1, 40))
    return Resume() if kind is Resume else kind(pick)


def draw_phases(source: Source, count: int) -> Iterator[Operation]:
    """Draw ``count`` operations, in phases in which the queues grow and phases in which they shrink."""
    while count > 0:
        kinds = source.choice([BUSY, BUSY, DRAINING])
        phase = min(count, source.randint(10, 150))
        count -= phase
        for _ in range(phase):
            yield draw_operation(source, kinds)
