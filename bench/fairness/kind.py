"""Fairness, as a kind of scenario."""

from bench.fairness.charts import charts
from bench.fairness.comparisons import COMPARISONS
from bench.fairness.drive import drive
from bench.fairness.metrics import FairnessMetrics
from bench.fairness.scenarios import SCENARIOS
from bench.fairness.tables import TERMS, tables
from bench.shared.kind import Kind

FAIRNESS = Kind(
    scenarios=SCENARIOS,
    metrics=FairnessMetrics,
    drive=drive,
    tables=tables,
    charts=charts,
    terms=TERMS,
    comparisons=COMPARISONS,
    at_once=2,
)
