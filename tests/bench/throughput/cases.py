"""Good and bad figures for the checks about the cost of a decision."""

from bench.throughput.checks import (
    batching_pays,
    few_calls,
    flat_in_backlog,
    flat_in_tenants,
    leaves_nothing,
    limits_cost_little,
    parked_cost_nothing,
)
from tests.bench.throughput.figures import drained, metrics, point, queues

CASES = [
    (
        flat_in_tenants(100, 10_000, at_least=0.85),
        metrics(loads=[point(100, 100), point(10_000, 1, speed_ratio=0.85)]),
        [
            metrics(loads=[point(100, 100), point(10_000, 1, speed_ratio=0.84)]),
            metrics(loads=[point(100, 100)]),
            metrics(loads=[point(10_000, 100)]),
            metrics(loads=[point(100, 100), point(10_000, 100, reference_tenants=3)]),
        ],
    ),
    (
        parked_cost_nothing(at_most=1.5),
        metrics(parked_ratios={"1": 1.5, "64": 1.0}),
        [
            metrics(parked_ratios={"1": 1.51, "64": 1.0}),
            metrics(parked_ratios={"1": 1.0, "64": 1.51}),
            metrics(parked_ratios={"1": 1.0, "64": None}),
            metrics(parked_ratios={}),
        ],
    ),
    (
        flat_in_backlog(1_000, 100_000, batch=64, at_most=1.5),
        queues((3, 1_000, 1.0), (3, 100_000, 1.5)),
        [
            queues((3, 1_000, 1.0), (3, 100_000, 1.51)),
            queues((3, 1_000, 1.0), (3, 100_000, None)),
            queues((3, 1_000, 1.0)),
            queues((3, 100_000, 1.0)),
            queues((3, 1_000, 1.0), (3, 50_000, 1.0)),
            queues((3, 1_000, 1.0), (9, 1_000, 1.0), (3, 100_000, 1.0)),
            queues((3, 1_000, 1.0), (9, 1_000, 1.0), (3, 100_000, 1.0), (9, 100_000, 1.51)),
            queues((3, 1_000, 1.0), (3, 100_000, 1.0), (3, 1_000_000, 1.51)),
            queues((3, 1_000, 1.0), (3, 100_000, 1.0), batch=1),
        ],
    ),
    (
        batching_pays(1, 64, at_least=5),
        metrics(batching={"1": 10, "64": 50}),
        [metrics(batching={"1": 10, "64": 49}), metrics(batching={"64": 50})],
    ),
    (
        few_calls(25),
        metrics(loads=[point(3, 1, 25)]),
        [metrics(loads=[point(3, 1, 20), point(9, 1, 25.1)]), metrics(loads=[point(3, 1, 0)])],
    ),
    (
        limits_cost_little(at_least=0.9),
        metrics(loads=[point(3, 50), point(100, 100)], limited=point(100, 1, speed_ratio=0.9)),
        [
            metrics(loads=[point(3, 50), point(100, 100)], limited=point(100, 1, speed_ratio=0.89)),
            metrics(loads=[point(3, 50)], limited=point(100, 1, speed_ratio=0.9)),
        ],
    ),
    (
        leaves_nothing(0.02),
        metrics(),
        [
            metrics(drained=drained(keys_after=6)),
            metrics(drained=drained(data_after_bytes=1300)),
            metrics(drained=drained(keys_peak=5)),
        ],
    ),
]
