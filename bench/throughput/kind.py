"""The cost of a decision, as a kind of scenario."""

from bench.shared.kind import Kind
from bench.throughput.drive import drive
from bench.throughput.metrics import ThroughputMetrics
from bench.throughput.scenario import THROUGHPUT as SCENARIO
from bench.throughput.tables import TERMS, tables

THROUGHPUT = Kind(scenarios=(SCENARIO,), metrics=ThroughputMetrics, drive=drive, tables=tables, terms=TERMS)
