"""Dispatchers that are killed, as a kind of scenario."""

from bench.handoff.drive import drive
from bench.handoff.metrics import HandoffMetrics
from bench.handoff.scenario import RACE_HANDOFF
from bench.handoff.tables import tables
from bench.shared.kind import Kind

HANDOFF = Kind(scenarios=(RACE_HANDOFF,), metrics=HandoffMetrics, drive=drive, tables=tables)
