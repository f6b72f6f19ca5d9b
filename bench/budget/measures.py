"""The figures of a burst: budget, window, order, speed. From the events of its one tenant."""

from collections import Counter
from collections.abc import Sequence

from bench.budget.metrics import BurstRun
from bench.budget.order import first, handed, overtook, started, too_early
from bench.shared.budget_use import budget_use
from bench.shared.burst import Burst
from bench.shared.evidence import Attempt, Evidence, Stamp
from bench.shared.metrics import Percentiles
from bench.shared.session import CallSpan
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
        queue_wait_ms=Percentiles.of(_at(each.active) - evidence.tasks[each.ref].submitted.at_ms for each in good),
        processing_ms=Percentiles.of(_at(each.ended) - _at(each.active) for each in good),
        end_to_end_ms=Percentiles.of(_at(each.ended) - evidence.tasks[each.ref].submitted.at_ms for each in good),
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
