"""The declared scenarios about workers: strategies against each other, and workers that fail."""

from bench.workers.checks_health import (
    ANSWERED_ONCE,
    MOVED_ELSEWHERE,
    ONE_CHECK_AT_A_TIME,
    OUT_AT_THRESHOLD,
    back_when_well,
    others_checked,
)
from bench.workers.checks_strategies import (
    all_answered,
    follows_weights,
    seed_decides,
    shifts_away,
    smooth,
    sooner,
    spreads_evenly,
)
from bench.workers.scenario import Contest, ContestName, Entrant, HealthScenario, StrategiesScenario, WorkerSpec
from fairlane.config.workers import HealthConfig, SupervisorConfig

GROUP = "workers"

ROOMY = (
    WorkerSpec(id="fast", capacity=24, weight=47, takes_ms=5),
    WorkerSpec(id="middle", capacity=18, weight=31, takes_ms=10),
    WorkerSpec(id="slow", capacity=16, weight=22, takes_ms=20),
)
"""For up to 12 callers there is always a free slot everywhere.

The cycle of the weights is so long that two random starts in it are equal once in thousands of times.
"""
TIGHT = (
    WorkerSpec(id="fast", capacity=16, takes_ms=20),
    WorkerSpec(id="middle", capacity=8, takes_ms=80),
    WorkerSpec(id="slow", capacity=4, takes_ms=160),
)
TIRING = (
    WorkerSpec(id="tiring", capacity=8, takes_ms=30, slowed_ms=120),
    WorkerSpec(id="fast", capacity=12, takes_ms=20),
    WorkerSpec(id="slow", capacity=4, takes_ms=45),
)

STRATEGIES = StrategiesScenario(
    name="pool-strategies",
    group=GROUP,
    title="Strategies over workers of unequal speed and capacity",
    claim="Round robin spreads evenly, weights are kept smoothly from a start by the seed, least-busy is done sooner "
    "where slots bind, and its moving averages take load off a worker that slows down.",
    reading="Each contest gives every strategy the same tasks and workers of its own, side by side. Where a slot is "
    "always free, only the strategy decides; the letters show its choices. Where slots bind, round robin "
    "fills up the slow worker and waits for it. A worker that slows down keeps its part of the load under "
    "plain least-busy; under the one with moving averages it should drop. `weighted` keeps the weights from "
    "wherever its seed lets it begin. `weighted-random` keeps them only roughly over 300 choices: what counts "
    "is that its seed repeats them.",
    tasks=300,
    lengths=(0.6, 1.4, 1.0, 0.75, 1.25, 0.9, 1.1),
    contests=(
        Contest(name=ContestName.SPREAD, workers=ROOMY, callers=12, entrants=(Entrant(strategy="round-robin"),)),
        Contest(
            name=ContestName.WEIGHTS,
            workers=ROOMY,
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
            workers=TIGHT,
            callers=12,
            entrants=(Entrant(strategy="round-robin"), Entrant(strategy="least-busy")),
        ),
        Contest(
            name=ContestName.SLOWDOWN,
            workers=TIRING,
            callers=12,
            slows_after=75,
            entrants=(Entrant(strategy="least-busy"), Entrant(strategy="least-busy-ewma")),
        ),
    ),
    checks=(
        all_answered(300),
        spreads_evenly("round-robin", within=1),
        follows_weights("weighted", within=0.02),
        smooth("weighted"),
        seed_decides("weighted"),
        seed_decides("weighted-random"),
        sooner("least-busy", "round-robin", at_most=0.9),
        shifts_away("least-busy-ewma", "least-busy", of_before=0.85, of_against=0.85),
    ),
)

HEALTH = HealthScenario(
    name="pool-health",
    group=GROUP,
    title="Workers that fall ill or hang",
    claim="A worker that fails its checks is taken out at the threshold, its tasks complete elsewhere, it comes back "
    "when it is healthy again, and a check that hangs delays no other worker's checks.",
    reading="The times depend on the machine and on the short intervals chosen here; the checks are counts. The ill "
    "worker and the one whose check hangs keep what runs on them, so those tasks can only be completed "
    "elsewhere, in a second attempt.",
    workers=tuple(WorkerSpec(id=f"worker-{number}", capacity=4, takes_ms=15) for number in range(1, 5)),
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
        OUT_AT_THRESHOLD,
        ONE_CHECK_AT_A_TIME,
        MOVED_ELSEWHERE,
        ANSWERED_ONCE,
        back_when_well(tasks=5),
        others_checked(least=0.5, most=1.5),
    ),
    quick=True,
)
