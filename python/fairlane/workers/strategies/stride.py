"""Stride scheduling over workers, optionally ordered by utilisation first.

Each worker has a pass value in virtual time, and a turn advances it by the worker's stride. The worker with the lowest
pass is next: equal strides give round robin, strides inverse to weights give smooth weighted round robin. All values
are integers, so that undoing a turn restores the pass exactly.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from typing import Final

from fairlane.clock import Rng
from fairlane.workers.strategies.base import Candidate
from fairlane.workers.strategies.heap import AddressableHeap

STRIDE: Final = 2**40
"""The stride of weight 1. Dividing it by a weight rounds by less than a millionth of the result."""


def equal_strides(_: Candidate) -> int:
    """Give every worker the same number of turns."""
    return STRIDE


def strides_by_weight(candidate: Candidate) -> int:
    """Give workers turns in proportion to their weights."""
    return STRIDE // candidate.weight


def unlimited(_: Candidate) -> float:
    """Ignore load: all workers have utilisation 0, and the pass alone decides."""
    return inf


@dataclass(slots=True)
class _Entry:
    stride: int
    pass_value: int
    """Virtual time at which the worker's next turn begins."""
    pass_at_put: int
    """The pass value at the last put; below ``pass_value`` if the worker was chosen since."""
    slots: int = 0
    """0 unless the worker is ready."""
    load: int = 0
    effective_capacity: float = inf
    """The load at which the utilisation is 1."""


class StrideScheduler:
    """See Strategy. Chooses the lowest utilisation (load / effective capacity), then the lowest pass.

    The global pass is the highest virtual time at which a confirmed turn began: one that a put has followed, so that it
    can no longer be undone. A put moves a worker that is behind the global pass up to it. A new worker begins at a
    random point within one stride after it, so that several schedulers do not run in step.
    """

    def __init__(
        self,
        rng: Rng,
        *,
        stride_of: Callable[[Candidate], int] = equal_strides,
        capacity_of: Callable[[Candidate], float] = unlimited,
        extra_load: int = 0,
    ) -> None:
        """Utilisation counts ``extra_load`` tasks more than each worker has."""
        self._rng = rng
        self._stride_of = stride_of
        self._capacity_of = capacity_of
        self._extra_load = extra_load
        self._entries: dict[str, _Entry] = {}
        self._order = AddressableHeap()
        self._global_pass = 0

    @property
    def rounds(self) -> int:
        """Turns of weight 1 that fit into the global pass."""
        return self._global_pass // STRIDE

    def put(self, candidate: Candidate) -> None:
        """See Strategy."""
        stride = self._stride_of(candidate)
        entry = self._entries.get(candidate.id)
        if entry is None:
            pass_value = self._global_pass + int(self._rng.uniform(0, stride))
            entry = self._entries[candidate.id] = _Entry(stride, pass_value, pass_value)
        else:
            self._confirm_turns(entry, stride)
        entry.slots = candidate.capacity if candidate.ready else 0
        entry.load = candidate.load
        entry.effective_capacity = self._capacity_of(candidate)
        self._reorder(candidate.id, entry)

    def set_capacity(self, worker_id: str, effective_capacity: float) -> None:
        """Change the effective capacity of a known worker."""
        entry = self._entries[worker_id]
        entry.effective_capacity = effective_capacity
        self._reorder(worker_id, entry)

    def remove(self, worker_id: str) -> None:
        """See Strategy."""
        self._entries.pop(worker_id, None)
        self._order.discard(worker_id)

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """See Strategy."""
        chosen = self._order.first(avoid)
        if chosen is not None:
            self._advance(chosen, self._entries[chosen], tasks)
        return chosen

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """See Strategy."""
        entry = self._entries.get(worker_id)
        if entry is not None:
            self._advance(worker_id, entry, -tasks)

    def _confirm_turns(self, entry: _Entry, stride: int) -> None:
        """Raise the global pass to the worker's turns, and the worker to the global pass; keep its lead, in turns."""
        if entry.pass_value > entry.pass_at_put:
            self._global_pass = max(self._global_pass, entry.pass_at_put)
        lead = max(0, entry.pass_value - self._global_pass)
        if entry.stride != stride:
            lead = lead * stride // entry.stride
            entry.stride = stride
        entry.pass_value = entry.pass_at_put = self._global_pass + lead

    def _advance(self, worker_id: str, entry: _Entry, tasks: int) -> None:
        entry.pass_value += tasks * entry.stride
        entry.load += tasks
        self._reorder(worker_id, entry)

    def _reorder(self, worker_id: str, entry: _Entry) -> None:
        if entry.load < entry.slots:
            capacity = entry.effective_capacity
            utilisation = (entry.load + self._extra_load) / capacity if capacity < inf else 0.0
            self._order.put(worker_id, utilisation, entry.pass_value)
        else:
            self._order.discard(worker_id)
