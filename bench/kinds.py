"""Every kind of scenario, in the order in which a full run takes them. A new kind adds one line to the list."""

from typing import Any

from bench.budget.kind import BUDGET, BUDGET_RACE
from bench.fairness.kind import FAIRNESS
from bench.handoff.kind import HANDOFF
from bench.races.kind import RACES
from bench.requeue.kind import REQUEUE
from bench.shared.kind import Kind
from bench.shared.metrics import Metrics
from bench.shared.scenario import Scenario
from bench.throughput.kind import THROUGHPUT
from bench.workers.kind import HEALTH, STRATEGIES
from fairlane.errors import ConfigError

KINDS: tuple[Kind[Any, Any], ...] = (
    FAIRNESS,
    BUDGET,
    REQUEUE,
    BUDGET_RACE,
    RACES,
    HANDOFF,
    STRATEGIES,
    HEALTH,
    THROUGHPUT,
)
SCENARIOS: tuple[Scenario, ...] = tuple(each for kind in KINDS for each in kind.scenarios)
GROUPS = tuple(dict.fromkeys(each.group for each in SCENARIOS))
SUITES = ("full", "quick")


def _keys(metrics: type[Metrics]) -> frozenset[str]:
    """Return the keys of a kind's metrics in the results file."""
    return frozenset(each.serialization_alias or name for name, each in metrics.model_fields.items())


_BY_SCENARIO = {type(each): kind for kind in KINDS for each in kind.scenarios}
_METRICS: tuple[type[Metrics], ...] = (Metrics, *(kind.metrics for kind in KINDS))
_BY_METRICS = {kind.metrics: kind for kind in KINDS}
_BY_KEYS = {_keys(metrics): metrics for metrics in _METRICS}


def kind_of(scenario: Scenario) -> Kind[Any, Any]:
    """Return the scenario's kind."""
    return _BY_SCENARIO[type(scenario)]


def kind_of_metrics(metrics: Metrics) -> Kind[Any, Any] | None:
    """Return the kind that measured these; None for the empty metrics of a run that failed."""
    return _BY_METRICS.get(type(metrics))


def parse_metrics(found: object) -> object:
    """Return metrics as read from JSON as those of the kind whose keys they have; leave anything else as it is.

    Raises:
        ValueError: no kind has these keys.
    """
    if not isinstance(found, dict):
        return found
    metrics = _BY_KEYS.get(frozenset(found))
    if metrics is None:
        raise ValueError(f"no kind of scenario measures {', '.join(sorted(found))}")
    return metrics.model_validate(found)


def choose(names: list[str]) -> list[Scenario]:
    """Return the scenarios that suites, groups and names stand for, each once, in the order of a full run.

    A scenario that only a suite stands for is the brief one.

    Raises:
        ConfigError: a name stands for nothing; the message names the choices.
    """
    for name in names:
        if not any(_stands_for(name, each) for each in SCENARIOS):
            choices = ", ".join(dict.fromkeys((*SUITES, *GROUPS, *(each.name for each in SCENARIOS))))
            raise ConfigError(f"unknown scenario {ascii(name)[:60]}; choose from: {choices}")
    return [
        each if {each.group, each.name} & {*names} else each.brief()
        for each in SCENARIOS
        if any(_stands_for(name, each) for name in names)
    ]


def _stands_for(name: str, scenario: Scenario) -> bool:
    return name in {"full", scenario.group, scenario.name} or (name == "quick" and scenario.quick)
