"""Small fairness scenarios, drivers' arguments, and whole results files for tests."""

from bench.fairness.checks import EVALUABLE
from bench.fairness.measures import Observation, measure
from bench.fairness.metrics import FairnessMetrics
from bench.fairness.scenario import FairnessScenario, ProviderLimits, TenantLoad, Timing
from bench.results import CoreFacts, Environment, Results, ScenarioResult, ServerFacts
from bench.shared.evidence import Evidence
from bench.shared.kind import Run
from bench.shared.metrics import Check, EndMetrics, Metrics
from fairlane.config import PoolConfig
from fairlane.store.store import Store
from tests.support.store_raw import command


def load(tenant: str, weight: int = 1, cost: int = 10, slots: int | None = None) -> TenantLoad:
    return TenantLoad(
        id=tenant, weight=weight, every_ms=50, takes_ms=100, cost=cost, priority=100, slots=slots, cost_ceiling=None
    )


def scenario(*loads: TenantLoad, slots: int = 2, quantum: int = 10, timing: Timing | None = None) -> FairnessScenario:
    return FairnessScenario(
        name="small",
        group="test",
        title="Small",
        claim="It is small.",
        reading="Read it.",
        checks=(EVALUABLE,),
        tenants=loads,
        pool=PoolConfig(slots=slots, quantum_units=quantum),
        provider=ProviderLimits(schedule=((0, slots),)),
        timing=timing or Timing(run_ms=1500, submit_until_ms=1200, observe_from_ms=0, observe_until_ms=1000),
    )


def observe(small: FairnessScenario, evidence: Evidence) -> Observation:
    return Observation(small, evidence, 0, {})


def measured(observation: Observation, provider_peak: int = 2) -> FairnessMetrics:
    end = EndMetrics(potential_orphans=[], left_in_flight={"slots": 0, "cost": 0}, violations=[])
    return measure(observation, provider_peak=provider_peak, end=end)


def on(platform, seed: int = 1) -> Run:
    """The arguments of a driver that runs alone; its progress is not shown."""

    async def together() -> None:
        pass

    return Run(platform, seed, lambda _: None, together)


def failed(scenario, metrics: Metrics) -> list[str]:
    """Name the checks of a scenario that these metrics fail."""
    checks = [check.judge(scenario, metrics) for check in scenario.checks]
    return [f"{each.name}: {each.observed}" for each in checks if not each.passed]


async def keys(endpoint) -> set[bytes]:
    async with Store(endpoint, "none") as store:
        return set(await command(store, "KEYS", "*"))


def ended(name: str, metrics: Metrics, *checks: Check) -> ScenarioResult:
    """A scenario that has ended with these metrics."""
    return ScenarioResult(
        name=name,
        group="test",
        title="t",
        claim="c",
        config={},
        metrics=metrics,
        checks=[*checks],
        passed=all(each.passed for each in checks),
        duration_s=1.0,
    )


def results(*scenarios: ScenarioResult) -> Results:
    return Results(
        schema_version=1,
        passed=all(each.passed for each in scenarios),
        started_at="2030-01-02T03:04:05+00:00",
        duration_s=12.5,
        seed=1,
        strategy="least-busy",
        environment=Environment(
            python="3.11.9",
            ray="2.60.0",
            server=ServerFacts(name="valkey", version="9.1.2"),
            fairlane="0.1.0",
            core=CoreFacts(path="python/fairlane/_core.abi3.so", profile="release"),
            cpus=2,
            git="0123456789ab",
        ),
        scenarios=list(scenarios),
        claims=[],
    )


def cells(text: str, first: str) -> list[str]:
    """Return the cells of the table row that begins with ``first``."""
    row = next(line for line in text.splitlines() if line.startswith(f"| {first} "))
    return [cell.strip() for cell in row.strip("|").split("|")]
