"""A strategy and its candidates, used as a manager does: choose a worker, fill a slot, free it."""

from collections.abc import Collection

from fairlane.clock import system_rng
from fairlane.domain.strategy_name import StrategyName
from fairlane.workers import Candidate, make_strategy

STRATEGIES = list(StrategyName)
IN_TURN = [each for each in STRATEGIES if each is not StrategyName.WEIGHTED_RANDOM]


class Candidates:
    """A strategy with its workers."""

    def __init__(self, strategy: str, *candidates: Candidate, seed: int = 1) -> None:
        self.strategy = make_strategy(strategy, system_rng(seed))
        self.now: dict[str, Candidate] = {}
        for candidate in candidates:
            self.put(candidate)

    def put(self, candidate: Candidate) -> None:
        """Tell the strategy about a worker."""
        self.now[candidate.id] = candidate
        self.strategy.put(candidate)

    def change(self, worker_id: str, **fields: object) -> None:
        """Tell the strategy what changed about a worker."""
        self.put(self.now[worker_id]._replace(**fields))

    def begin(self, avoid: Collection[str] = ()) -> str | None:
        """Choose a worker for one task and fill its slot."""
        chosen = self.strategy.choose(avoid)
        if chosen is not None:
            self.change(chosen, load=self.now[chosen].load + 1)
        return chosen

    def end(self, worker_id: str) -> None:
        """Give a slot back."""
        self.change(worker_id, load=self.now[worker_id].load - 1)

    def serve(self, tasks: int) -> list[str]:
        """Return the workers that execute tasks which arrive one after the other."""
        order = []
        for _ in range(tasks):
            chosen = self.begin()
            assert chosen is not None
            order.append(chosen)
            self.end(chosen)
        return order


def idle(*names: str, capacity: int = 4) -> list[Candidate]:
    """Return workers that do nothing."""
    return [Candidate(name, capacity) for name in names]
