"""The results file: its schema, and reading and writing it.

The report is rendered from this file alone, so everything that a chart or a table shows is in here. A metric that does
not apply to a scenario is absent; one that applies and could not be determined is null.
"""

import os
from pathlib import Path
from typing import Final, Literal

from pydantic import JsonValue, SerializeAsAny, ValidationError, field_validator

from bench import kinds
from bench.shared.metrics import Check, Metrics, Part
from fairlane.domain.strategy_name import StrategyName
from fairlane.errors import ConfigError

SCHEMA_VERSION: Final = 1
RESULTS_NAME = "benchmark-results.json"


class ScenarioResult(Part):
    """One scenario's run."""

    name: str
    group: str
    title: str
    claim: str
    config: dict[str, JsonValue]
    metrics: SerializeAsAny[Metrics]
    """Of the scenario's kind; empty if the run failed."""
    checks: list[Check]
    passed: bool
    duration_s: float

    @field_validator("metrics", mode="before")
    @classmethod
    def _of_their_kind(cls, found: object) -> object:
        try:
            return kinds.parse_metrics(found)
        except ValidationError as error:
            raise ValueError(_first_problem(error)) from None


class ServerFacts(Part):
    """Which server answered."""

    name: str
    version: str


class CoreFacts(Part):
    """Which build of the native core did the arithmetic."""

    path: str
    profile: str


class Environment(Part):
    """Where the numbers were taken."""

    python: str
    ray: str
    server: ServerFacts
    fairlane: str
    core: CoreFacts
    cpus: int
    git: str


class Results(Part):
    """The whole file."""

    schema_version: Literal[1] = SCHEMA_VERSION
    passed: bool
    started_at: str
    duration_s: float
    seed: int
    strategy: str = StrategyName.LEAST_BUSY.value
    """The strategy by which dispatchers chose the next worker."""
    environment: Environment
    scenarios: list[ScenarioResult]
    claims: list[Check]

    def to_json(self) -> str:
        """Render the file."""
        return self.model_dump_json(by_alias=True, exclude_unset=True, indent=2) + "\n"


def parse(text: str | bytes) -> Results:
    """Read a results file's text.

    Raises:
        ConfigError: it is not a results file of this schema version; names the first thing wrong.
    """
    try:
        return Results.model_validate_json(text)
    except ValidationError as error:
        raise ConfigError(f"not a results file: {_first_problem(error)}") from None


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "file"
    return f"{where}: {first['msg']}"


def save(results: Results, directory: Path) -> Path:
    """Write the file into ``directory`` as a whole or not at all, and return its path."""
    path = directory / RESULTS_NAME
    draft = path.with_suffix(".json.part")
    draft.write_text(results.to_json(), encoding="utf-8")
    os.replace(draft, path)
    return path
