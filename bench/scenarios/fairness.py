"""Three tenants on one provider quota: one interactive, one standard, one noisy."""

from dataclasses import replace

from bench.checks.fairness import (
    AtLeast,
    CapacityMoves,
    Dominates,
    Evaluable,
    EveryTenantServed,
    GapWithinBound,
    InvariantsHold,
    NothingLeft,
    PeaksWithinLimits,
    ProviderSaw,
    SharesNearIdeal,
    Starved,
    Throttled,
    WorkersUsed,
)
from bench.scenario import LoadScenario, ProviderLimits, TenantLoad
from fairlane.config import ControllerConfig, PoolConfig
from fairlane.domain.policy import QueuePolicy, ThrottleScope

GROUP = "fairness"

TENANTS = (
    TenantLoad(id="interactive", weight=2, every_ms=25, takes_ms=90, cost=400, priority=5, slots=2, cost_ceiling=800),
    TenantLoad(id="standard", weight=1, every_ms=40, takes_ms=180, cost=800, priority=10, slots=1, cost_ceiling=800),
    TenantLoad(id="noisy", weight=1, every_ms=8, takes_ms=100, cost=200, priority=1, slots=1, cost_ceiling=400),
)
WITHOUT_CEILINGS = tuple(replace(load, slots=None, cost_ceiling=None) for load in TENANTS)

POOL = PoolConfig(
    policy=QueuePolicy.WDRR, slots=4, quantum_units=200, throttle_scope=ThrottleScope.TASK, default_pause_ms=20
)
CONTROLLER = ControllerConfig(enabled=True, period_ms=250, cooldown_ms=800, clean_ticks=4, minimum_slots=1)
STEADY = ProviderLimits(schedule=((0, 4),))

_EVERYWHERE = (PeaksWithinLimits(), ProviderSaw(), WorkersUsed(), NothingLeft(), InvariantsHold())

BASELINE = LoadScenario(
    name="baseline",
    group=GROUP,
    title="Strict priority, without ceilings per tenant",
    claim="The problem is real: under strict priority a noisy tenant takes the pool and the others starve.",
    tenants=WITHOUT_CEILINGS,
    pool=POOL.model_copy(update={"policy": QueuePolicy.PRIORITY}),
    provider=STEADY,
    checks=(Evaluable(), Dominates("noisy"), Starved(("interactive", "standard")), *_EVERYWHERE),
    quick=True,
)

FAIR = LoadScenario(
    name="fair",
    group=GROUP,
    title="Weighted deficit round robin, with ceilings per tenant",
    claim="The same load is shared by weight, within every ceiling, at about the same throughput.",
    tenants=TENANTS,
    pool=POOL,
    provider=STEADY,
    checks=(
        Evaluable(),
        AtLeast("jain", 0.85),
        EveryTenantServed(),
        *_EVERYWHERE,
        SharesNearIdeal(0.05),
        AtLeast("reserved_occupancy", 0.90),  # a slot that idles has a longer cycle, and so an ideal that is as small
    ),
    quick=True,
)

CONTENTION = LoadScenario(
    name="contention",
    group=GROUP,
    title="Weighted deficit round robin alone, ceilings wide open",
    claim="With no ceiling to help, the queue alone gives every tenant its weight, within the proven bound.",
    tenants=WITHOUT_CEILINGS,
    pool=POOL,
    provider=STEADY,
    checks=(
        Evaluable(),
        AtLeast("jain", 0.99),
        GapWithinBound(),
        AtLeast("reserved_occupancy", 0.95),
        AtLeast("provider_occupancy", 0.90),
        EveryTenantServed(),
        *_EVERYWHERE,
    ),
    quick=True,
)

ADAPTIVE = LoadScenario(
    name="adaptive",
    group=GROUP,
    title="The provider takes only half for a while",
    claim="Capacity follows the provider's throttles down at once and comes back slot by slot; no task is lost.",
    tenants=TENANTS,
    pool=POOL,
    provider=ProviderLimits(schedule=((0, 4), (1_500, 2), (2_700, 4)), retry_after_ms=20),
    controller=CONTROLLER,
    checks=(CapacityMoves(1, 4), Throttled(), AtLeast("throttled_then_completed", 1), *_EVERYWHERE),
    quick=True,
)

SINGLE_WORKER = replace(
    FAIR,
    name="single-worker",
    title="The same with one worker",
    claim="Fairness does not depend on how many workers there are.",
    worker_count=1,
    any_worker_count=False,
    quick=False,
)

SCENARIOS = (BASELINE, FAIR, CONTENTION, ADAPTIVE, SINGLE_WORKER)
