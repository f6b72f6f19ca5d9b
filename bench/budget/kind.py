"""Budgets and the race for a budget, as kinds of scenario."""

from bench.budget.drive import drive, drive_race
from bench.budget.metrics import BudgetMetrics, BudgetRaceMetrics
from bench.budget.scenario import BUDGET_ATOMIC, BUDGET_NAIVE, RACE_BUDGET
from bench.budget.tables import TERMS, race_tables, side_by_side, tables
from bench.shared.kind import Kind, Overview

BUDGET = Kind(
    scenarios=(BUDGET_NAIVE, BUDGET_ATOMIC),
    metrics=BudgetMetrics,
    drive=drive,
    tables=tables,
    terms=TERMS,
    at_once=2,
    overview=Overview("Budgets side by side", side_by_side),
)
BUDGET_RACE = Kind(scenarios=(RACE_BUDGET,), metrics=BudgetRaceMetrics, drive=drive_race, tables=race_tables)
