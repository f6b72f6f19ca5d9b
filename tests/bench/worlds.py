"""Small load scenarios and whole results files for tests."""

from bench.checks.fairness import Evaluable
from bench.evidence import Evidence
from bench.measures import Observation
from bench.results import CoreFacts, Environment, Results, ScenarioResult, ServerFacts
from bench.scenario import LoadScenario, ProviderLimits, TenantLoad, Timing
from fairlane.config import PoolConfig


def load(tenant: str, weight: int = 1, cost: int = 10, slots: int | None = None) -> TenantLoad:
    return TenantLoad(
        id=tenant, weight=weight, every_ms=50, takes_ms=100, cost=cost, priority=100, slots=slots, cost_ceiling=None
    )


def scenario(*loads: TenantLoad, slots: int = 2, quantum: int = 10, timing: Timing | None = None) -> LoadScenario:
    return LoadScenario(
        name="small",
        group="test",
        title="Small",
        claim="It is small.",
        checks=(Evaluable(),),
        tenants=loads,
        pool=PoolConfig(slots=slots, quantum_units=quantum),
        provider=ProviderLimits(schedule=((0, slots),)),
        timing=timing or Timing(run_ms=1500, submit_until_ms=1200, observe_from_ms=0, observe_until_ms=1000),
    )


def observe(small: LoadScenario, evidence: Evidence) -> Observation:
    return Observation(small, evidence, 0, {})


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
