"""The promises that compare two fairness scenarios: fair queues against strict priority."""

from pydantic import JsonValue

from bench.fairness.metrics import FairnessMetrics
from bench.shared.kind import Comparison
from bench.shared.text import plain


def _fairer(this: FairnessMetrics, that: FairnessMetrics) -> tuple[bool, JsonValue]:
    if this.jain is None or that.jain is None:
        return False, f"{plain(this.jain)} against {plain(that.jain)}"
    return this.jain >= that.jain + 0.15, f"{this.jain:.3f} against {that.jain:.3f}"


def _as_fast(this: FairnessMetrics, that: FairnessMetrics) -> tuple[bool, JsonValue]:
    if not that.throughput_per_s:
        return False, f"{this.throughput_per_s:.1f} against nothing"
    ratio = this.throughput_per_s / that.throughput_per_s
    return ratio >= 0.85, f"{this.throughput_per_s:.1f} against {that.throughput_per_s:.1f} per s: {ratio:.2f}"


def _starves_less(this: FairnessMetrics, that: FairnessMetrics) -> tuple[bool, JsonValue]:
    here, there = this.starvation_windows, that.starvation_windows
    return here < there, f"{here} against {there}"


def _against_baseline(scenario: str) -> tuple[Comparison[FairnessMetrics], ...]:
    return (
        Comparison(f"{scenario} is fairer than baseline", scenario, "baseline", "Jain ≥ baseline + 0.15", _fairer),
        Comparison(f"{scenario} keeps the throughput", scenario, "baseline", "throughput ≥ 0.85 × baseline", _as_fast),
        Comparison(
            f"{scenario} starves less", scenario, "baseline", "fewer starvation windows than baseline", _starves_less
        ),
    )


COMPARISONS = (*_against_baseline("fair"), *_against_baseline("single-worker"))
