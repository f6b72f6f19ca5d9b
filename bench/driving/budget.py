"""Drives the budget scenarios: the burst with and without a window of starts, then the race for a budget."""

from bench.driving import budget_race
from bench.driving.burst import BurstSession, Ran, burst_session, leftovers
from bench.driving.load import spec_of
from bench.figures import BudgetRaceSide
from bench.measures.budget import burst_run
from bench.platform import Platform, Progress
from bench.results import Metrics
from bench.scenario_controls import BudgetScenario
from fairlane.config import WindowConfig


async def drive(scenario: BudgetScenario, platform: Platform, *, progress: Progress) -> Metrics:
    """Run the burst twice, then the race of the scenario's side, and return the metrics.

    Raises:
        ScenarioError: a submit was refused, or the event stream has a gap.
        FairlaneError: the scheduler itself failed.
    """
    async with burst_session(scenario.name, scenario.burst, platform, progress) as bursts:
        progress("the burst under a window")
        limited = await _burst(bursts, "window", scenario.window)
        progress("the burst without a window")
        free = await _burst(bursts, "free", None)
        progress("the race")
        side = await _race(scenario, platform, bursts)
        end = await leftovers(bursts)
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
    return end.model_copy(update={"bursts": runs, "budget_race": [side], "throughput_per_s": runs[1].tasks_per_s})


async def _burst(bursts: BurstSession, tenant: str, window: WindowConfig | None) -> Ran:
    """Submit everything, let the pool go, and await the ends."""
    specs = [spec_of(arrival) for arrival in bursts.burst.arrivals(tenant)]
    handles = await bursts.submit_paused(tenant, specs, window)
    await bursts.session.store.resume()
    return await bursts.finish(tenant, handles)


async def _race(scenario: BudgetScenario, platform: Platform, bursts: BurstSession) -> BudgetRaceSide:
    if scenario.side == "naive":
        return await budget_race.naive_side(platform.endpoint, scenario.race)
    views = await budget_race.contend(platform.endpoint, bursts.name, scenario.race, scenario.race.contenders)
    await bursts.catch_up()
    return await budget_race.repaired_side(bursts.session.store, bursts.evidence, scenario.race, views)
