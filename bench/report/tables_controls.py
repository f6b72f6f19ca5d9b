"""The tables of the scenarios about budgets, windows, throttles and hand-overs, and the budget modes side by side."""

from collections.abc import Iterator

from bench.figures import BudgetRaceSide, BurstRun, Handoff, NaiveHandoff, Percentiles, Requeue
from bench.report.text import FAILED, Facts, columns, escape, milliseconds, number, table
from bench.results import Metrics, Results, ScenarioResult


def control_tables(metrics: Metrics) -> Iterator[tuple[str, list[str]]]:
    """Yield caption and lines of each table."""
    if metrics.bursts:
        yield "The load", columns([(_name(run), _burst(run)) for run in metrics.bursts])
    if metrics.budget_race:
        sides = [(f"{each.side}, {each.contenders} contenders", _race(each)) for each in metrics.budget_race]
        yield "The race for the budget", columns(sides)
    yield from _races(metrics)
    if metrics.requeue is not None:
        yield "The throttle", columns([("", _requeue(metrics.requeue))])
    if metrics.naive_handoff is not None:
        yield "The naive dispatcher, killed between its two steps", columns([("", _naive(metrics.naive_handoff))])
    if metrics.handoff is not None:
        yield "The product's dispatcher, killed at random moments", columns([("", _handoff(metrics.handoff))])


def _races(metrics: Metrics) -> Iterator[tuple[str, list[str]]]:
    sides = [("naive", metrics.naive)] if metrics.naive else []
    sides += [("repaired", each) for each in metrics.repaired or []]
    rows = [
        [
            name,
            str(side.contenders),
            str(side.before),
            str(side.after),
            escape(", ".join(f"{count} × {answer}" for answer, count in side.answers.items())),
        ]
        for name, side in sides
        if side is not None
    ]
    if rows:
        yield (
            "The race",
            table(
                [
                    ("Side", "left"),
                    ("Contenders", "right"),
                    ("Before", "right"),
                    ("After", "right"),
                    ("Answers", "left"),
                ],
                rows,
            ),
        )


def side_by_side(results: Results) -> Iterator[tuple[str, list[str]]]:
    """Compare the scenarios that drove the load and raced for the budget: yield caption and lines of each table."""
    modes = [each for each in results.scenarios if each.metrics.bursts]
    if modes:
        yield "The race: each mode in its own way", columns([(each.name, _races_of(each)) for each in modes])
        yield "The load: the product's figures in every mode", columns([(each.name, _loads_of(each)) for each in modes])
        yield "The checks", columns([(each.name, _verdicts_of(each)) for each in modes])


def _races_of(scenario: ScenarioResult) -> Facts:
    facts: Facts = {}
    for side in scenario.metrics.budget_race or []:
        facts |= {"run by": "bench/naive" if side.side == "naive" else "the product"}
        facts |= {f"race: {what}": value for what, value in _race(side).items()}
    return facts


def _loads_of(scenario: ScenarioResult) -> Facts:
    facts: Facts = {"run by": "the product"}
    for run in scenario.metrics.bursts or []:
        facts |= {f"load, {_name(run)}: {what}": value for what, value in _burst(run).items()}
    return facts


def _verdicts_of(scenario: ScenarioResult) -> Facts:
    return {f"check: {each.name}": "passed" if each.passed else FAILED for each in scenario.checks}


def _burst(run: BurstRun) -> Facts:
    return {
        "tasks/s": number(run.tasks_per_s, 1),
        "waiting p50 / p95 / p99 ms": _three(run.queue_wait_ms),
        "processing p50 / p95 / p99 ms": _three(run.processing_ms),
        "end to end p50 / p95 / p99 ms": _three(run.end_to_end_ms),
        "maximum concurrency": f"{run.peak_active} of {run.could_run} the workers could run",
        "starts per worker": " / ".join(str(count) for count in run.workers.values()) or "none",
        "from a start to the first beyond the limit, server's clock": _after(run.closest_ms),
        "the same as the workers saw it": _after(run.closest_seen_ms),
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


def _requeue(found: Requeue) -> Facts:
    return {
        "task": found.task,
        "its attempts": ", ".join(found.attempts),
        "the pool paused for": _after(found.paused_ms),
        "next start anywhere after": _after(found.first_start_ms),
        "handed over before the pause, not started": ", ".join(found.handed_over) or "none",
        "a worker asked for it in vain": f"{found.held_back} times",
        "held for the task": f"{found.held_before} before the throttle, {found.held_after} in the pause",
        "failures counted": number(found.failures, 0),
        "overtaken by": ", ".join(found.overtaken_by) or f"none of the {found.came_after} behind it",
        "spent for the task": f"{found.charged} of its {found.cost}",
        "ledger": f"{found.use.spent} of {found.use.limit} spent, {found.use.held} held",
    }


def _naive(left: NaiveHandoff) -> Facts:
    return {
        "orphans": ", ".join(left.orphans) or "none",
        "slots that stay held": str(left.slots),
        "cost that stays held": str(left.cost),
        "handed over": str(left.handed_over),
        "the next dispatcher": left.next_says,
    }


def _handoff(found: Handoff) -> Facts:
    return {
        "kills": f"{found.kills}, of {found.processes} processes",
        "hand-overs before each": " ".join(str(count) for count in found.handed_over_before),
        "tasks not ended at each": " ".join(str(count) for count in found.unended_at),
        "tasks": f"{number(found.tasks, 0)}, of which {number(found.completed, 0)} completed",
        "results the client has": number(found.results, 0),
        "attempts": ", ".join(f"{number(count, 0)} {state}" for state, count in found.attempts.items()),
    }


def _name(run: BurstRun) -> str:
    return run.window or "no window"


def _three(each: Percentiles) -> str:
    return " / ".join(milliseconds(value) for value in (each.p50, each.p95, each.p99))


def _after(value: float | None) -> str:
    return "–" if value is None else f"{milliseconds(value)} ms"
