"""Three tenants on one provider quota: one interactive, one standard, one noisy."""

from dataclasses import replace

from bench.fairness.checks import (
    EVALUABLE,
    EVERY_TENANT_SERVED,
    GAP_WITHIN_BOUND,
    THROTTLED,
    PeaksWithinLimits,
    SharesNearIdeal,
    WorkersUsed,
    at_least,
    capacity_moves,
    dominates,
    provider_peak,
    starved,
)
from bench.fairness.scenario import FairnessScenario, ProviderLimits, TenantLoad
from bench.shared.checks import AUDIT_CLEAN, NOTHING_LEFT
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

_EVERYWHERE = (PeaksWithinLimits(), provider_peak(POOL.slots), WorkersUsed(), NOTHING_LEFT, AUDIT_CLEAN)

BASELINE = FairnessScenario(
    name="baseline",
    group=GROUP,
    title="Strict priority, without ceilings per tenant",
    claim="The problem is real: under strict priority a noisy tenant takes the pool and the others starve.",
    reading="This one shows the problem and is meant to look bad. The noisy tenant has the most urgent priority and "
    "submits more than the pool can do. Once its tasks fill the pool, the others start nothing: what they "
    "get, they get in the first moments, before the window. Inside it look at their starts, and at the half "
    "seconds in which they waited and started nothing. Whatever the following scenarios improve is measured "
    "against this.",
    tenants=WITHOUT_CEILINGS,
    pool=POOL.model_copy(update={"policy": QueuePolicy.PRIORITY}),
    provider=STEADY,
    checks=(EVALUABLE, dominates("noisy"), starved("interactive", "standard"), *_EVERYWHERE),
    quick=True,
)

FAIR = FairnessScenario(
    name="fair",
    group=GROUP,
    title="Weighted deficits, with ceilings per tenant",
    claim="The same load is shared by weight, within every ceiling, at about the same throughput.",
    reading="Interactive and standard keep level per weight. Noisy stays below them because it may hold only one "
    "slot, and one slot cannot do more; that is its ideal share too. So Jain's index cannot reach 1 here "
    "(perfect slots would give 0.908): look at the shares, which should match their ideals, and at "
    "`contention`.",
    tenants=TENANTS,
    pool=POOL,
    provider=STEADY,
    checks=(
        EVALUABLE,
        at_least("jain", 0.85),
        EVERY_TENANT_SERVED,
        *_EVERYWHERE,
        SharesNearIdeal(0.05),
        at_least("reserved_occupancy", 0.90),  # a slot that idles has a longer cycle, and so an ideal that is as small
    ),
    quick=True,
)

CONTENTION = FairnessScenario(
    name="contention",
    group=GROUP,
    title="Weighted deficits alone, ceilings wide open",
    claim="With no ceiling to help, the queue alone gives every tenant its weight, within the proven bound.",
    reading="No tenant has ceilings of its own, so only the order of service decides. The lines of service per weight "
    "should lie on top of each other, and the gap between any two should stay within the bound, which does "
    "not grow with time. The two occupancies say that fairness is not bought with idle slots.",
    tenants=WITHOUT_CEILINGS,
    pool=POOL,
    provider=STEADY,
    checks=(
        EVALUABLE,
        at_least("jain", 0.99),
        GAP_WITHIN_BOUND,
        at_least("reserved_occupancy", 0.95),
        at_least("provider_occupancy", 0.90),
        EVERY_TENANT_SERVED,
        *_EVERYWHERE,
    ),
    quick=True,
)

ADAPTIVE = FairnessScenario(
    name="adaptive",
    group=GROUP,
    title="The provider takes only half for a while",
    claim="Capacity follows the provider's throttles down at once and comes back slot by slot; no task is lost.",
    reading="The provider takes two calls at once instead of four between 1.5 s and 2.7 s. The capacity should drop "
    "at the first look after that and climb back by single slots. Throttled attempts are expected: what "
    "counts is that their tasks come back, complete, and leave nothing held.",
    tenants=TENANTS,
    pool=POOL,
    provider=ProviderLimits(schedule=((0, 4), (1_500, 2), (2_700, 4)), retry_after_ms=20),
    controller=CONTROLLER,
    checks=(capacity_moves(1, 4), THROTTLED, at_least("throttled_then_completed", 1), *_EVERYWHERE),
    quick=True,
)

SINGLE_WORKER = replace(
    FAIR,
    name="single-worker",
    title="The same with one worker",
    claim="Fairness does not depend on how many workers there are.",
    reading="The same as `fair` on one worker. The figures should differ from it by no more than chance.",
    worker_count=1,
    any_worker_count=False,
    quick=False,
)

SCENARIOS = (BASELINE, FAIR, CONTENTION, ADAPTIVE, SINGLE_WORKER)
