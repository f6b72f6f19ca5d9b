"""A worker's figures."""

from hypothesis import given, strategies as st

from fairlane.workers.members.metrics import SMOOTHING, MetricsAccumulator, WorkerMetrics


def test_averages_move_towards_what_is_new() -> None:
    figures = MetricsAccumulator(smoothing=0.5)
    figures.record(4.0, succeeded=True)
    assert figures.read() == WorkerMetrics(1, 0, 4.0, 0.0)
    figures.record(2.0, succeeded=False)
    assert figures.read() == WorkerMetrics(1, 1, 3.0, 0.5)
    figures.record(3.0, succeeded=False)
    assert figures.read() == WorkerMetrics(1, 2, 3.0, 0.75)


def test_one_failure_says_little() -> None:
    figures = MetricsAccumulator()
    figures.record(1.0, succeeded=False)
    assert figures.read() == WorkerMetrics(0, 1, 1.0, SMOOTHING)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.booleans()), min_size=1))
def test_averages_stay_within_what_was_seen(attempts: list[tuple[float, bool]]) -> None:
    figures = MetricsAccumulator()
    for latency_s, well in attempts:
        figures.record(latency_s, succeeded=well)
    read = figures.read()
    latencies = [latency_s for latency_s, _ in attempts]
    assert read.latency_s is not None
    assert min(latencies) * 0.999999 <= read.latency_s <= max(latencies) * 1.000001
    assert read.error_rate is not None
    assert 0 <= read.error_rate <= 1
    assert read.successes + read.failures == len(attempts)
