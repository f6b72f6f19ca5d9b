"""Strategies and workers that fail, as kinds of scenario."""

from bench.shared.kind import Kind
from bench.workers import drive_health, drive_strategies
from bench.workers.charts import charts
from bench.workers.metrics import HealthMetrics, StrategiesMetrics
from bench.workers.scenarios import HEALTH as HEALTH_SCENARIO, STRATEGIES as STRATEGIES_SCENARIO
from bench.workers.tables import HEALTH_TERMS, STRATEGY_TERMS, health_tables, strategy_tables

STRATEGIES = Kind(
    scenarios=(STRATEGIES_SCENARIO,),
    metrics=StrategiesMetrics,
    drive=drive_strategies.drive,
    tables=strategy_tables,
    charts=charts,
    terms=STRATEGY_TERMS,
)
HEALTH = Kind(
    scenarios=(HEALTH_SCENARIO,),
    metrics=HealthMetrics,
    drive=drive_health.drive,
    tables=health_tables,
    terms=HEALTH_TERMS,
)
