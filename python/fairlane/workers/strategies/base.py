"""What a strategy knows of a worker, and what it is asked."""

from collections.abc import Collection
from typing import NamedTuple, Protocol


class Candidate(NamedTuple):
    """A worker as a strategy sees it, at one instant."""

    id: str
    capacity: int
    load: int = 0
    ready: bool = True
    """Whether its status lets it take tasks, apart from its slots."""
    weight: int = 1
    latency_s: float | None = None
    """Moving average; None if nothing is known."""
    error_rate: float | None = None
    ended: int = 0
    """Attempts that the averages know of, or have known of."""

    @property
    def available(self) -> bool:
        """Ready, with a free slot."""
        return self.ready and self.load < self.capacity


class Strategy(Protocol):
    """Keeps candidates in an order of its own. A newcomer, or one that was away, is owed nothing from before."""

    def put(self, candidate: Candidate) -> None:
        """Take in a new worker, or what has changed about a known one."""
        ...

    def remove(self, worker_id: str) -> None:
        """Forget a worker; one that is unknown is no error."""
        ...

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """Return the available worker for the next ``tasks`` tasks; None if there is none but those to avoid.

        The choice counts as the worker's turn and as its load, so many tasks, until the worker is put or the choice
        is undone. A worker with fewer free slots than tasks may be chosen: undo what is beyond them.
        """
        ...

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """Take back turns that led to nothing, before the worker is put again: as though they had not been chosen.

        A worker that was removed meanwhile is no error.
        """
        ...
