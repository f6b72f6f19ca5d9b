"""The events of a group of workers, in order, noted by their transport and by an observer of the group.

Seconds are those of the event loop's clock.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from fairlane.workers import HealthReport


class Moment(StrEnum):
    """The kinds of entries about a worker."""

    LIVES = "lives"
    """Its transport has started."""
    BEGUN = "begun"
    """An attempt begins."""
    DONE = "done"
    """The work of a task ended."""
    CHECK = "check"
    """A health check begins."""
    REPORT = "report"
    """The outcome of a check is known."""
    FAILED = "failed"
    """It was taken out of the group."""
    TROUBLE = "trouble"
    """Its trouble begins."""
    RELIEF = "relief"
    """Its trouble ends."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One moment."""

    at_s: float
    moment: Moment
    worker: str
    task: str = ""
    report: HealthReport | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer a caller got for its task, and the workers of the task's attempts."""

    task: str
    workers: tuple[str, ...]
    right: bool
    """It got the result of this task's work on this task's value."""
    error: str = ""


_MOST_ERRORS = 3


def errors_of(answers: Sequence[Answer]) -> list[str]:
    """Return the first different errors that callers got."""
    return list(dict.fromkeys(each.error for each in answers if each.error))[:_MOST_ERRORS]


class Journal:
    """Entries in the order in which things happened."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.counts: Counter[tuple[Moment, str]] = Counter()
        """Entries by moment and worker."""
        self._news = asyncio.Event()

    def note(self, moment: Moment, worker: str, *, task: str = "", report: HealthReport | None = None) -> None:
        """Add an entry, now."""
        self.entries.append(Entry(asyncio.get_running_loop().time(), moment, worker, task, report))
        self.counts[moment, worker] += 1
        self._news.set()

    async def until(self, condition: Callable[[], bool], timeout_s: float) -> None:
        """Wait until the condition holds, which is asked after new entries.

        Raises:
            TimeoutError: it did not hold in time.
        """
        async with asyncio.timeout(timeout_s):
            while not condition():
                self._news.clear()
                await self._news.wait()
