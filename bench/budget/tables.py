"""The tables of the scenarios about budgets, and their modes side by side."""

from collections.abc import Iterator, Sequence

from bench.budget.metrics import BudgetMetrics, BudgetRaceMetrics, BudgetRaceSide, BurstRun
from bench.shared.kind import Outcome, Table
from bench.shared.metrics import Percentiles
from bench.shared.text import FAILED, Facts, columns, duration, milliseconds, number

TERMS = {
    "bursts": (
        "**Admitted** is the sum of the estimates of all tasks let through, **in the ledger** what the ledger says "
        "is held or spent; both are shares of the budget. More admitted than the budget means money spent that "
        "nobody allowed, less in the ledger than admitted means that nobody will notice. **From a start to the "
        "first beyond the limit** is the shortest time in which one start more than the window allows took place."
    ),
}


def tables(metrics: BudgetMetrics) -> Iterator[Table]:
    """Yield the tables of the bursts and the race."""
    yield "The load", columns([(_name(run), _burst(run)) for run in metrics.bursts])
    yield from race_tables(metrics)


def race_tables(metrics: BudgetMetrics | BudgetRaceMetrics) -> Iterator[Table]:
    """Yield the table of the race."""
    sides = [(f"{each.side}, {each.contenders} contenders", _race(each)) for each in metrics.budget_race]
    yield "The race for the budget", columns(sides)


def side_by_side(modes: Sequence[Outcome[BudgetMetrics]]) -> Iterator[Table]:
    """Compare the scenarios: yield caption and lines of each table."""
    yield "The race: each mode in its own way", columns([(each.name, _races_of(each)) for each in modes])
    yield "The load: the product's figures in every mode", columns([(each.name, _loads_of(each)) for each in modes])
    yield "The checks", columns([(each.name, _verdicts_of(each)) for each in modes])


def _races_of(scenario: Outcome[BudgetMetrics]) -> Facts:
    facts: Facts = {}
    for side in scenario.metrics.budget_race:
        facts |= {"run by": "bench/budget/naive" if side.side == "naive" else "the product"}
        facts |= {f"race: {what}": value for what, value in _race(side).items()}
    return facts


def _loads_of(scenario: Outcome[BudgetMetrics]) -> Facts:
    facts: Facts = {"run by": "the product"}
    for run in scenario.metrics.bursts:
        facts |= {f"load, {_name(run)}: {what}": value for what, value in _burst(run).items()}
    return facts


def _verdicts_of(scenario: Outcome[BudgetMetrics]) -> Facts:
    return {f"check: {each.name}": "passed" if each.passed else FAILED for each in scenario.checks}


def _burst(run: BurstRun) -> Facts:
    return {
        "tasks/s": number(run.tasks_per_s, 1),
        "waiting p50 / p95 / p99 ms": _three(run.queue_wait_ms),
        "processing p50 / p95 / p99 ms": _three(run.processing_ms),
        "end to end p50 / p95 / p99 ms": _three(run.end_to_end_ms),
        "maximum concurrency": f"{run.peak_active} of {run.could_run} the workers could run",
        "starts per worker": " / ".join(str(count) for count in run.workers.values()) or "none",
        "from a start to the first beyond the limit, server's clock": duration(run.closest_ms),
        "the same as the workers saw it": duration(run.closest_seen_ms),
        "admitted": f"{run.use.admitted_share:.0%}",
        "in the ledger": f"{run.use.ledger_share:.0%}",
    }


def _race(side: BudgetRaceSide) -> Facts:
    use = side.use
    return {
        "accepted": f"{side.accepted} of {side.contenders}",
        "remaining": f"{use.remaining} of {use.limit}",
        "admitted": f"{use.admitted_share:.0%}",
        "in the ledger": f"{use.ledger_share:.0%}",
        "most held and spent at any event": "–" if use.most_promised is None else str(use.most_promised),
        "told": ", ".join(f"{count} × {answer}" for answer, count in side.answers.items()),
    }


def _name(run: BurstRun) -> str:
    return run.window or "no window"


def _three(each: Percentiles) -> str:
    return " / ".join(milliseconds(value) for value in (each.p50, each.p95, each.p99))
