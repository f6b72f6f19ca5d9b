"""What a decision costs, in short."""

from bench.checks.cost import (
    BatchingPays,
    FewCalls,
    FlatInBacklog,
    FlatInTenants,
    LeavesNothing,
    LimitsCostLittle,
    ParkedCostNothing,
)
from bench.scenario import ThroughputScenario

THROUGHPUT = ThroughputScenario(
    name="throughput",
    group="throughput",
    title="What a decision costs",
    claim="A decision costs about the same with a hundred tenants and with ten thousand, with a thousand tasks "
    "waiting and with a hundred thousand; a parked tenant costs nothing.",
    tenant_counts=(3, 100, 10_000),
    tasks=4_000,
    rounds=31,
    limited_tenants=100,
    worker_count=2,
    worker_slots=256,
    round_trips=300,
    parked_tenants=9_990,
    few_tenants=10,
    dispatch_calls=200,
    cycle_tasks=2_048,
    batches=(1, 64),
    backlogs=(1_000, 100_000),
    backlog_calls=100,
    checks=(
        FlatInTenants(100, 10_000, 0.85),
        ParkedCostNothing(1.5),
        FlatInBacklog(1_000, 100_000, 64, 1.5),
        BatchingPays(1, 64, 5.0),
        FewCalls(25),
        LimitsCostLittle(0.90),
        LeavesNothing(0.02),
    ),
)

SCENARIOS = (THROUGHPUT,)
