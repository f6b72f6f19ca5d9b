"""Runs chosen scenarios one after the other and puts their results together. Knows no terminal and no files."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from bench import claims, environment
from bench.checks.verdict import verdict
from bench.driving import budget, budget_race, handoff, health, load, races, requeue, strategies, throughput
from bench.platform import Platform, Progress
from bench.results import Check, Metrics, Results, ScenarioResult
from bench.scenario import LoadScenario, RaceScenario, Scenario, ThroughputScenario
from bench.scenario_controls import BudgetRaceScenario, BudgetScenario, HandoffScenario, RequeueScenario
from bench.scenario_pool import HealthScenario, StrategiesScenario
from fairlane.clock import SYSTEM_CLOCK
from fairlane.config import DispatcherConfig
from fairlane.errors import FairlaneError

_LOG = logging.getLogger(__name__)


class Audience(Protocol):
    """Told what goes on."""

    def starts(self, scenario: Scenario) -> None:
        """A scenario starts."""
        ...

    def goes_on(self, what: str) -> None:
        """The running scenario does this now."""
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
    """The one that the platform's dispatchers use."""
    backlog: int | None = None
    """A queue of this length is measured beside the usual ones."""

    def varied(self) -> list[Scenario]:
        """Return the scenarios with the workers and the backlog asked for, where a scenario allows that."""
        scenarios = [_with_workers(each, self.workers) if self.workers else each for each in self.scenarios]
        return [_with_backlog(each, self.backlog) if self.backlog else each for each in scenarios]


async def run(plan: Plan, platform: Platform, audience: Audience) -> Results:
    """Run every scenario of the plan, whatever the ones before it came to."""
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    began_s = SYSTEM_CLOCK.monotonic_s()
    facts = await environment.describe(platform.endpoint)
    results = []
    for scenario in plan.varied():
        audience.starts(scenario)
        results.append(await _run_one(scenario, platform, plan.seed, audience.goes_on))
        audience.ended(results[-1])
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


async def _run_one(scenario: Scenario, platform: Platform, seed: int, progress: Progress) -> ScenarioResult:
    began_s = SYSTEM_CLOCK.monotonic_s()
    try:
        metrics = await _drive(scenario, platform, seed, progress)
    except (FairlaneError, TimeoutError, OSError) as error:
        _LOG.exception("scenario %s", scenario.name)
        metrics = Metrics()
        checks = [verdict("runs to its end", False, str(error) or type(error).__name__, "no error")]
    else:
        checks = [check.judge(scenario, metrics) for check in scenario.checks]
    return _result(scenario, metrics, checks, SYSTEM_CLOCK.monotonic_s() - began_s)


def _result(scenario: Scenario, metrics: Metrics, checks: list[Check], duration_s: float) -> ScenarioResult:
    return ScenarioResult(
        name=scenario.name,
        group=scenario.group,
        title=scenario.title,
        claim=scenario.claim,
        config=scenario.settings(),
        metrics=metrics,
        checks=checks,
        passed=bool(checks) and all(check.passed for check in checks),
        duration_s=round(duration_s, 3),
    )


async def _drive(scenario: Scenario, platform: Platform, seed: int, progress: Progress) -> Metrics:
    match scenario:
        case LoadScenario():
            return await load.drive(scenario, platform, seed=seed, progress=progress)
        case RaceScenario():
            return await races.drive(scenario, platform, progress=progress)
        case BudgetScenario():
            return await budget.drive(scenario, platform, progress=progress)
        case RequeueScenario():
            return await requeue.drive(scenario, platform, progress=progress)
        case HandoffScenario():
            return await handoff.drive(scenario, platform, seed=seed, progress=progress)
        case BudgetRaceScenario():
            return await budget_race.drive(scenario, platform, progress=progress)
        case StrategiesScenario() | HealthScenario():
            return await _drive_workers(scenario, seed, progress)
        case ThroughputScenario():
            return await throughput.drive(scenario, platform, progress=progress)
        case _:
            raise TypeError(f"no driver for {type(scenario).__name__}")


async def _drive_workers(scenario: StrategiesScenario | HealthScenario, seed: int, progress: Progress) -> Metrics:
    """Drive a scenario that needs neither a server nor Ray."""
    if isinstance(scenario, StrategiesScenario):
        return await strategies.drive(scenario, seed=seed, progress=progress)
    return await health.drive(scenario, seed=seed, progress=progress)


def _with_workers(scenario: Scenario, workers: int) -> Scenario:
    match scenario:
        case LoadScenario(any_worker_count=True) | ThroughputScenario():
            return replace(scenario, worker_count=workers)
        case _:
            return scenario


def _with_backlog(scenario: Scenario, backlog: int) -> Scenario:
    match scenario:
        case ThroughputScenario():
            return replace(scenario, backlogs=(*scenario.backlogs, backlog))
        case _:
            return scenario
