"""A race of controllers, as a kind of scenario."""

from bench.races.drive import drive
from bench.races.metrics import RaceMetrics
from bench.races.scenario import RACE_CONTROLLER
from bench.races.tables import TERMS, tables
from bench.shared.kind import Kind

RACES = Kind(scenarios=(RACE_CONTROLLER,), metrics=RaceMetrics, drive=drive, tables=tables, terms=TERMS)
