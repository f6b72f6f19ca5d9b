"""The strategy contract, and the view of a worker that strategies receive."""

from collections.abc import Collection
from typing import NamedTuple, Protocol


class Candidate(NamedTuple):
    """A worker as a strategy sees it, at one instant."""

    id: str
    capacity: int
    load: int = 0
    ready: bool = True
    """Whether the worker accepts tasks, regardless of free slots."""
    weight: int = 1
    latency_s: float | None = None
    """Moving average; None before the first attempt has ended."""
    error_rate: float | None = None
    ended: int = 0
    """Attempts that have ended, those before the last start included."""

    @property
    def available(self) -> bool:
        """Ready, with a free slot."""
        return self.ready and self.load < self.capacity


class Strategy(Protocol):
    """Keeps candidates in its own order. A worker that joins or returns gets no credit for turns it missed."""

    def put(self, candidate: Candidate) -> None:
        """Add a worker, or update a known one."""
        ...

    def remove(self, worker_id: str) -> None:
        """Forget a worker. An unknown id is not an error."""
        ...

    def choose(self, avoid: Collection[str] = (), tasks: int = 1) -> str | None:
        """Return the available worker for the next ``tasks`` tasks; None if there is none outside ``avoid``.

        The choice counts as the worker's turn and adds ``tasks`` to its load until the worker is put or the choice is
        undone. The chosen worker may have fewer free slots than ``tasks``: undo the excess.
        """
        ...

    def undo(self, worker_id: str, tasks: int = 1) -> None:
        """Take back unused turns before the worker is put again, as if they had not been chosen.

        A worker that was removed in between is not an error.
        """
        ...
