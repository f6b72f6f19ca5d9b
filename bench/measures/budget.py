"""What became of a burst: budget, window, order, speed. From the events of its one tenant."""

from collections import Counter
from collections.abc import Sequence

from bench.evidence import Attempt, Evidence, Stamp
from bench.figures import BudgetUse, BurstRun
from bench.measures.observation import CallSpan
from bench.measures.order import first, handed, overtook, started, too_early
from bench.measures.service import ranked
from bench.scenario_controls import Burst
from fairlane import _core
from fairlane.config import WindowConfig
from fairlane.domain.task import TaskRef
from fairlane.store.messages import Ledger


def burst_run(
    burst: Burst,
    tenant: str,
    evidence: Evidence,
    *,
    window: WindowConfig,
    applied: bool,
    ledger: Ledger,
    spans: dict[TaskRef, CallSpan],
) -> BurstRun:
    """Compute the figures. ``applied``: the burst ran under the window, and not only beside it for comparison."""
    tasks = [task for task in evidence.tasks.values() if task.ref.tenant == tenant]
    ran = [each for each in evidence.of_tenant(tenant) if each.active is not None]
    good = [each for each in ran if each.ended_well]
    priorities = Counter(evidence.tasks[each.ref].priority for each in ran)
    calls = sorted(span.entered_us / 1000 for span in spans.values())
    seen = closest(calls, window.limit)
    return BurstRun(
        window=f"{window.limit} starts per {window.interval_ms:,} ms" if applied else None,
        interval_ms=window.interval_ms,
        tasks=len(tasks),
        completed=len({each.ref for each in good}),
        tasks_per_s=_rate(evidence, tenant, good),
        queue_wait_ms=ranked(_at(each.active) - evidence.tasks[each.ref].submitted.at_ms for each in good),
        processing_ms=ranked(_at(each.ended) - _at(each.active) for each in good),
        end_to_end_ms=ranked(_at(each.ended) - evidence.tasks[each.ref].submitted.at_ms for each in good),
        workers=dict(sorted(Counter(evidence.worker_of(each) for each in ran).items())),
        could_run=burst.worker_count * burst.worker_slots,
        peak_active=peak_active(evidence, tenant),
        starts_by_priority={str(priority): count for priority, count in sorted(priorities.items())},
        handed_too_early=too_early(evidence, tenant, handed),
        too_early=too_early(evidence, tenant, started),
        overtook=overtook(evidence, tenant),
        closest_ms=closest(sorted(_at(each.active) for each in ran), window.limit),
        closest_seen_ms=None if seen is None else round(seen, 1),
        use=budget_use(evidence, tenant, ledger),
    )


def budget_use(evidence: Evidence, tenant: str, ledger: Ledger) -> BudgetUse:
    """Return what the ledger says, beside what the events do. For a budget without periods.

    Raises:
        ValueError: the tenant has no budget.
    """
    if ledger.limit is None:
        raise ValueError(f"tenant {tenant} has no budget")
    most, by_events = promised(evidence, tenant)
    let_through = {each.ref for each in evidence.of_tenant(tenant)}
    return BudgetUse.of(
        limit=ledger.limit,
        admitted=sum(evidence.tasks[ref].cost for ref in let_through),
        held=ledger.held,
        spent=ledger.spent + ledger.late,
        most_promised=most,
        by_events=by_events,
    )


def promised(evidence: Evidence, tenant: str) -> tuple[int, int]:
    """Return the largest sum of held and spent after any row, and the sum after the last one."""
    changes: list[tuple[int, int]] = []
    for attempt in evidence.of_tenant(tenant):
        changes.append((attempt.enqueued.place, attempt.cost))
        if attempt.ended is not None:
            changes.append((attempt.ended.place, attempt.actual - attempt.cost))
    trace = evidence.tenants.get(tenant)
    changes += [(use.at.place, use.actual) for use in (trace.late if trace is not None else [])]
    most = total = 0
    for _, change in sorted(changes):
        total += change
        most = max(most, total)
    return most, total


def peak_active(evidence: Evidence, tenant: str) -> int:
    """Return the most attempts that ran at once."""
    after_all = evidence.last.place + 1
    running = [
        (float(each.active.place), float(each.ended.place if each.ended is not None else after_all))
        for each in evidence.of_tenant(tenant)
        if each.active is not None
    ]
    peak = _core.peak_overlap(running, [1.0] * len(running))
    return 0 if peak is None else int(peak[0])


def closest(starts: Sequence[float], limit: int) -> float | None:
    """Return the shortest distance between a start and the ``limit``-th one after it; None if there are too few."""
    gaps = [later - earlier for earlier, later in zip(starts, starts[limit:], strict=False)]
    return min(gaps, default=None)


def _rate(evidence: Evidence, tenant: str, good: list[Attempt]) -> float | None:
    """Return completed tasks per second, from the end of the pause before the first start to the last end."""
    ends = [each.ended.at_ms for each in good if each.ended is not None]
    begun = first(evidence.of_tenant(tenant), started)
    released = [stamp.at_ms for stamp in evidence.resumed if begun is not None and stamp < begun]
    if not ends or not released or max(ends) == released[-1]:
        return None
    return len(good) * 1000 / (max(ends) - released[-1])


def _at(stamp: Stamp | None) -> int:
    if stamp is None:
        raise ValueError("an attempt that counts has started, and ended if it completed")
    return stamp.at_ms
