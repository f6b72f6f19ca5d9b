"""Runs chosen scenarios one after the other and puts their results together. Knows no terminal and no files."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Protocol

from bench import claims, environment
from bench.kinds import kind_of
from bench.results import Results, ScenarioResult
from bench.shared.checks import verdict
from bench.shared.kind import Run
from bench.shared.metrics import Metrics
from bench.shared.platform import Platform
from bench.shared.scenario import Scenario
from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import DispatcherConfig
from fairlane.errors import FairlaneError

_LOG = logging.getLogger(__name__)


class Audience(Protocol):
    """Follows the run."""

    def progress(self, what: str) -> None:
        """Show the current step in a few words."""
        ...

    def ended(self, result: ScenarioResult) -> None:
        """A scenario ended."""
        ...


@dataclass(frozen=True)
class Plan:
    """What to run, and with which variations."""

    scenarios: Sequence[Scenario]
    seed: int
    workers: int | None = None
    strategy: str = DispatcherConfig().strategy
    """The strategy of the platform's dispatchers."""
    backlog: int | None = None
    """A queue of this length is measured beside the usual ones."""

    def varied(self) -> list[Scenario]:
        """Return the scenarios with the workers and the backlog asked for, where a scenario allows that."""
        scenarios = [each.with_workers(self.workers) if self.workers else each for each in self.scenarios]
        return [each.with_backlog(self.backlog) if self.backlog else each for each in scenarios]

    def batches(self) -> Iterator[list[Scenario]]:
        """Yield the varied scenarios that run at the same time: of one kind, and as many as it allows."""
        for kind, scenarios in groupby(self.varied(), key=kind_of):
            while together := [*islice(scenarios, kind.at_once)]:
                yield together


async def run(plan: Plan, platform: Platform, audience: Audience) -> Results:
    """Run every scenario of the plan, even after one has failed."""
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    began_s = SYSTEM_CLOCK.monotonic_s()
    facts = await environment.describe(platform.endpoint)
    results: list[ScenarioResult] = []
    for together in plan.batches():
        gate = Gate(len(together))
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(_run_one(each, platform, plan.seed, audience, gate)) for each in together]
        results += [each.result() for each in running]
    compared = claims.judge(results)
    return Results(
        schema_version=1,
        passed=bool(results) and all(each.passed for each in results) and all(each.passed for each in compared),
        started_at=started_at,
        duration_s=round(SYSTEM_CLOCK.monotonic_s() - began_s, 3),
        seed=plan.seed,
        strategy=plan.strategy,
        environment=facts,
        scenarios=results,
        claims=compared,
    )


class Gate:
    """Lets scenarios through when each of them has come, or has ended without coming."""

    def __init__(self, scenarios: int) -> None:
        self._expected = scenarios
        self._came: set[str] = set()
        self._open = asyncio.Event()

    async def come(self, scenario: Scenario) -> None:
        """Return when the gate opens."""
        self.leave(scenario)
        await self._open.wait()

    def leave(self, scenario: Scenario) -> None:
        """Do not wait for this scenario any more."""
        self._came.add(scenario.name)
        if len(self._came) == self._expected:
            self._open.set()


async def _run_one(scenario: Scenario, platform: Platform, seed: int, audience: Audience, gate: Gate) -> ScenarioResult:
    began_s = SYSTEM_CLOCK.monotonic_s()
    run = Run(platform, seed, lambda what: audience.progress(f"{scenario.name}: {what}"), lambda: gate.come(scenario))
    run.progress("starting")
    metrics = Metrics()
    try:
        metrics = await kind_of(scenario).drive(scenario, run)
    except (FairlaneError, TimeoutError, OSError) as error:
        _LOG.exception("scenario %s", scenario.name)
        checks = [verdict("runs to its end", False, str(error) or type(error).__name__, "no error")]
    else:
        checks = [check.judge(scenario, metrics) for check in scenario.checks]
    finally:
        gate.leave(scenario)
    result = ScenarioResult(
        name=scenario.name,
        group=scenario.group,
        title=scenario.title,
        claim=scenario.claim,
        config=scenario.settings(),
        metrics=metrics,
        checks=checks,
        passed=bool(checks) and all(check.passed for check in checks),
        duration_s=round(SYSTEM_CLOCK.monotonic_s() - began_s, 3),
    )
    audience.ended(result)
    return result
