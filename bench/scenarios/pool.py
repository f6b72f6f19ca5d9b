"""A pool of workers by itself: strategies against each other, and workers that fail."""

from bench.checks.health import (
    AnsweredOnce,
    BackWhenWell,
    MovedElsewhere,
    NoneBesideOneThatHangs,
    OthersChecked,
    OutAtThreshold,
)
from bench.checks.pool import AllAnswered, FollowsWeights, SeedDecides, ShiftsAway, Smooth, Sooner, SpreadsEvenly
from bench.scenario_pool import Contest, ContestName, CrewMember, Entrant, HealthScenario, StrategiesScenario
from fairlane.config.workers import HealthConfig, SupervisorConfig

GROUP = "pool"

ROOMY = (
    CrewMember(id="fast", capacity=24, weight=47, takes_ms=5),
    CrewMember(id="middle", capacity=18, weight=31, takes_ms=10),
    CrewMember(id="slow", capacity=16, weight=22, takes_ms=20),
)
"""For up to 12 callers there is always a free slot everywhere.

The weights have so long a cycle that two starts of it at random are the same once in thousands of times.
"""
TIGHT = (
    CrewMember(id="fast", capacity=16, takes_ms=20),
    CrewMember(id="middle", capacity=8, takes_ms=80),
    CrewMember(id="slow", capacity=4, takes_ms=160),
)
TIRING = (
    CrewMember(id="tiring", capacity=8, takes_ms=30, slowed_ms=120),
    CrewMember(id="fast", capacity=12, takes_ms=20),
    CrewMember(id="slow", capacity=4, takes_ms=45),
)

STRATEGIES = StrategiesScenario(
    name="pool-strategies",
    group=GROUP,
    title="Strategies over workers of unequal speed and capacity",
    claim="Round robin spreads evenly, weights are kept smoothly from a start by the seed, least-busy is done sooner "
    "where slots bind, and its moving averages take load off a worker that slows down.",
    tasks=300,
    lengths=(0.6, 1.4, 1.0, 0.75, 1.25, 0.9, 1.1),
    contests=(
        Contest(name=ContestName.SPREAD, crew=ROOMY, callers=12, entrants=(Entrant(strategy="round-robin"),)),
        Contest(
            name=ContestName.WEIGHTS,
            crew=ROOMY,
            callers=12,
            entrants=(
                Entrant(strategy="weighted"),
                Entrant(strategy="weighted"),
                Entrant(strategy="weighted", stream=1),
                Entrant(strategy="weighted-random"),
                Entrant(strategy="weighted-random"),
                Entrant(strategy="weighted-random", stream=1),
            ),
        ),
        Contest(
            name=ContestName.MAKESPAN,
            crew=TIGHT,
            callers=12,
            entrants=(Entrant(strategy="round-robin"), Entrant(strategy="least-busy")),
        ),
        Contest(
            name=ContestName.SLOWDOWN,
            crew=TIRING,
            callers=12,
            slows_after=75,
            entrants=(Entrant(strategy="least-busy"), Entrant(strategy="least-busy-ewma")),
        ),
    ),
    checks=(
        AllAnswered(300),
        SpreadsEvenly("round-robin", within=1),
        FollowsWeights("weighted", within=0.02),
        Smooth("weighted"),
        SeedDecides("weighted"),
        SeedDecides("weighted-random"),
        Sooner("least-busy", "round-robin", at_most=0.9),
        ShiftsAway("least-busy-ewma", "least-busy", of_before=0.85, of_against=0.85),
    ),
)

HEALTH = HealthScenario(
    name="pool-health",
    group=GROUP,
    title="Workers that fall ill or hang",
    claim="A worker that fails its checks is taken out at the threshold, its tasks complete elsewhere, it comes back "
    "when it is well, and a check that hangs holds up nobody else's.",
    crew=tuple(CrewMember(id=f"worker-{number}", capacity=4, takes_ms=15) for number in range(1, 5)),
    ill="worker-1",
    stuck="worker-2",
    stuck_ms=700,
    callers=10,
    health=HealthConfig(interval_ms=40, jitter=0.1, timeout_ms=150, failure_threshold=3, success_threshold=2),
    supervisor=SupervisorConfig(backoff_base_ms=20, backoff_cap_ms=50, max_restarts=50),
    retries=2,
    tasks_before=5,
    tasks_after=5,
    checks=(
        OutAtThreshold(),
        NoneBesideOneThatHangs(),
        MovedElsewhere(),
        AnsweredOnce(),
        BackWhenWell(tasks=5),
        OthersChecked(least=0.5, most=1.5),
    ),
    quick=True,
)

SCENARIOS = (STRATEGIES, HEALTH)
