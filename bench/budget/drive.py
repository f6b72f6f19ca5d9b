"""Drives the budget scenarios: the burst with and without a window of starts, then the race for a budget."""

from bench.budget import race
from bench.budget.measures import burst_run
from bench.budget.metrics import BudgetMetrics, BudgetRaceMetrics, BudgetRaceSide
from bench.budget.scenario import BudgetRaceScenario, BudgetScenario
from bench.shared.burst import BurstSession, FinishedBurst, burst_session
from bench.shared.kind import Run
from bench.shared.platform import Platform
from fairlane.config import WindowConfig


async def drive(scenario: BudgetScenario, run: Run) -> BudgetMetrics:
    """Run the burst twice, then the race of the scenario's side, and return the metrics.

    Raises:
        ScenarioError: a submit was refused, or the event stream has a gap.
        FairlaneError: the scheduler itself failed.
    """
    progress = run.progress
    async with burst_session(scenario.name, scenario.burst, run.platform, progress) as bursts:
        progress("the burst under a window")
        limited = await _burst(bursts, "window", scenario.window)
        progress("the burst without a window")
        free = await _burst(bursts, "free", None)
        progress("the race")
        side = await _race(scenario, run.platform, bursts)
        end = await bursts.leftovers()
    runs = [
        burst_run(
            scenario.burst,
            ran.tenant,
            bursts.evidence,
            window=scenario.window,
            applied=ran is limited,
            ledger=ran.ledger,
            spans=ran.spans,
        )
        for ran in (limited, free)
    ]
    return BudgetMetrics(**dict(end), bursts=runs, budget_race=[side], throughput_per_s=runs[1].tasks_per_s)


async def drive_race(scenario: BudgetRaceScenario, run: Run) -> BudgetRaceMetrics:
    """Run the naive side, then the product once for each number of contenders, and return how they ended.

    Raises:
        ScenarioError: the event stream has a gap.
    """
    endpoint = run.platform.endpoint
    run.progress("naive contenders")
    sides = [await race.naive_side(endpoint, scenario.race)]
    for contenders in scenario.crowds:
        run.progress(f"{contenders} contenders")
        sides.append(await race.alone(scenario, endpoint, contenders))
    return BudgetRaceMetrics(budget_race=sides)


async def _burst(bursts: BurstSession, tenant: str, window: WindowConfig | None) -> FinishedBurst:
    """Submit everything, end the pool's pause, and await the ends."""
    specs = [arrival.spec() for arrival in bursts.burst.arrivals(tenant)]
    handles = await bursts.submit_paused(tenant, specs, window)
    await bursts.session.store.resume()
    return await bursts.finish(tenant, handles)


async def _race(scenario: BudgetScenario, platform: Platform, bursts: BurstSession) -> BudgetRaceSide:
    if scenario.side == "naive":
        return await race.naive_side(platform.endpoint, scenario.race)
    views = await race.contend(platform.endpoint, bursts.name, scenario.race, scenario.race.contenders)
    await bursts.catch_up()
    return await race.repaired_side(bursts.session.store, bursts.evidence, scenario.race, views)
