"""Scenarios as data: their steps, limits and promises. A scenario holds no program."""

from dataclasses import dataclass
from typing import Any, Self

from pydantic import JsonValue

from bench.shared.checks import CheckSpec


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The fields of every kind of scenario. ``quick``: it belongs to the subset for CI."""

    name: str
    group: str
    title: str
    claim: str
    reading: str
    """How to read its outcome, for readers who did not write the scheduler."""
    checks: tuple[CheckSpec[Any, Any], ...]
    quick: bool = False

    def settings(self) -> dict[str, JsonValue]:
        """Return the parameters that define the scenario, for the results file."""
        raise NotImplementedError

    def brief(self) -> Self:
        """Return the scenario as a full run takes it: with fewer samples where it takes many."""
        return self

    def with_workers(self, count: int) -> Self:
        """Return the scenario with this number of workers, if it allows any number."""
        del count
        return self

    def with_backlog(self, pending: int) -> Self:
        """Return the scenario with a queue of this length measured too, if it measures queues."""
        del pending
        return self
