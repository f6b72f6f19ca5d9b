"""The results file of the comparison, from which alone its page is made."""

import os
from pathlib import Path
from typing import Final, Literal

from bench.results import Environment
from bench.shared.metrics import Check, Part

RESULTS_NAME: Final = "peers.json"


class Trips(Part):
    """Round trips of one task at a time, in milliseconds, of all rounds together."""

    p50: float
    p99: float
    p999: float
    count: int


class LoadFigures(Part):
    """One load. A figure is the median of all rounds unless its name says otherwise."""

    tenants: int
    tasks: int
    """Of one round."""
    tasks_per_s: float
    fastest_tasks_per_s: float
    rounds_per_s: list[float]
    """Of every round."""
    ratio: float | None
    """The speed against the reference's in the same round, median of all rounds; null: it did not run."""
    server_cpu_us: float
    """Per task, as the next two."""
    crew_cpu_us: float
    """Of the client and the workers."""
    calls: float


class PeerFigures(Part):
    """What one queue did."""

    name: str
    versions: list[str]
    settings: str
    loads: list[LoadFigures]
    trips: Trips
    bytes_per_task: float
    tasks: int
    """All tasks of all rounds. Each ran once, and its client saw the right result."""


class Failure(Part):
    """A queue that did not deliver exactly, or did not come to its end."""

    name: str
    reason: str


class Skipped(Part):
    """A queue that cannot be had here."""

    name: str
    reason: str


class PeerResults(Part):
    """The whole file."""

    schema_version: Literal[1] = 1
    started_at: str
    duration_s: float
    rounds: int
    machine: str
    environment: Environment
    tools: dict[str, str]
    """Versions of the programs that run other queues."""
    peers: list[PeerFigures]
    failed: list[Failure]
    skipped: list[Skipped]
    delivery: list[Check]
    goals: list[Check]

    @property
    def exact(self) -> bool:
        """Say whether delivery was exact everywhere."""
        return all(each.passed for each in self.delivery)

    @property
    def reached(self) -> bool:
        """Say whether every goal is met."""
        return all(each.passed for each in self.goals)

    def save(self, directory: Path) -> Path:
        """Write the file as a whole or not at all; return its path."""
        path = directory / RESULTS_NAME
        draft = path.with_suffix(".json.part")
        draft.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
        os.replace(draft, path)
        return path
