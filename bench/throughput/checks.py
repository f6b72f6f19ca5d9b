"""The promises about the cost of a decision: ratios within one run, and counts."""

from collections.abc import Mapping

from bench.shared.checks import Bound, Promise
from bench.throughput.metrics import ThroughputMetrics, ThroughputPoint

Figure = Bound[ThroughputMetrics]


def _load(metrics: ThroughputMetrics, tenants: int) -> ThroughputPoint | None:
    return next((each for each in metrics.loads if each.tenants == tenants), None)


def _speed_ratio(metrics: ThroughputMetrics, load: ThroughputPoint | None, reference: int) -> float | None:
    """Return a load's speed against that of ``reference`` tenants; None if either was not measured."""
    if load is None or load.reference_tenants != reference or _load(metrics, reference) is None:
        return None
    return load.speed_ratio


def flat_in_tenants(few: int, many: int, *, at_least: float) -> Figure:
    """Many tenants cost about as much as few."""
    return Figure(
        f"throughput at {many:,} tenants against {few:,}",
        lambda m: _speed_ratio(m, _load(m, many), few),
        at_least=at_least,
        expected=f"≥ {at_least:g} ×",
    )


def limits_cost_little(*, at_least: float) -> Figure:
    """A budget and both windows for every tenant slow the load down only slightly."""
    return Figure(
        "throughput with budgets and windows for every tenant",
        lambda m: _speed_ratio(m, m.limited, m.limited.tenants),
        at_least=at_least,
        expected=f"≥ {at_least:g} × without",
    )


def parked_cost_nothing(*, at_most: float) -> Figure:
    """A dispatch call costs about the same for any number of parked tenants."""
    return Figure(
        "a dispatch call with nearly all tenants parked",
        lambda m: {f"batch of {batch}": ratio for batch, ratio in m.parked_ratios.items()},
        at_most=at_most,
        expected=f"≤ {at_most:g} × one with ten tenants",
        digits=3,
    )


def flat_in_backlog(few: int, many: int, *, batch: int, at_most: float) -> Figure:
    """A dispatch call costs about the same for any number of waiting tasks.

    Every longer queue is compared with ``few``, or with two tasks of each tenant if these are more: a tenant with a
    single task has no queue to read.
    """

    def against_few(metrics: ThroughputMetrics) -> Mapping[str, float | None]:
        found = {(each.pending, each.tenants): each.ratios.get(str(batch)) for each in metrics.backlogs}
        wanted: dict[tuple[int, int], float | None] = {
            (many, tenants): None for pending, tenants in found if pending == max(few, 2 * tenants)
        }
        longer = {place: ratio for place, ratio in found.items() if wanted and place[0] > max(few, 2 * place[1])}
        ratios = wanted | longer
        return {f"{pending:,} waiting, {tenants:,} tenants": ratio for (pending, tenants), ratio in ratios.items()}

    return Figure(
        f"a dispatch call of {batch} with a long queue",
        against_few,
        at_most=at_most,
        expected=f"≤ {at_most:g} × one with {few:,} waiting, or with two of each tenant",
        digits=3,
    )


def batching_pays(small: int, large: int, *, at_least: float) -> Figure:
    """One call for many tasks is much cheaper than one call for each."""

    def ratio(metrics: ThroughputMetrics) -> float | None:
        slow, fast = metrics.batching.get(str(small)), metrics.batching.get(str(large))
        return fast / slow if slow and fast else None

    return Figure(
        f"tasks per second in batches of {large} against {small}",
        ratio,
        at_least=at_least,
        expected=f"≥ {at_least:g} ×",
    )


def few_calls(at_most: int) -> Figure:
    """A task's whole life takes few server commands."""
    return Figure(
        "server calls per task, most of any turn",
        lambda m: {f"{load.tenants:,} tenants": load.most_calls_per_task or None for load in m.loads},
        at_most=at_most,
        digits=2,
    )


def leaves_nothing(kept: float) -> Promise[ThroughputMetrics]:
    """After drain and retention the number of keys is as before, and the memory nearly so."""

    def growth_kept(metrics: ThroughputMetrics) -> float | None:
        """Return the part of the data's peak growth that is left; None if the load did not show."""
        left = metrics.drained
        if left.data_peak_bytes <= left.data_before_bytes or left.keys_peak <= left.keys_before:
            return None
        return (left.data_after_bytes - left.data_before_bytes) / (left.data_peak_bytes - left.data_before_bytes)

    def holds(metrics: ThroughputMetrics) -> bool:
        share, left = growth_kept(metrics), metrics.drained
        return share is not None and share <= kept and left.keys_after == left.keys_before

    def keys(metrics: ThroughputMetrics) -> str:
        left = metrics.drained
        return f"{left.keys_before} → {left.keys_peak} → {left.keys_after}"

    def growth(metrics: ThroughputMetrics) -> str | None:
        share = growth_kept(metrics)
        return None if share is None else f"{share:.1%}"

    return Promise(
        "nothing stays behind",
        holds,
        lambda m: {"keys": keys(m), "growth kept": growth(m)},
        f"as many keys as before; at most {kept:.0%} of the peak growth",
    )
