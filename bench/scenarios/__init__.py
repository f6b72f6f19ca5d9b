"""Every scenario, in the order in which a full run takes them."""

from bench.scenario import Scenario
from bench.scenarios import controls, fairness, pool, races, throughput
from fairlane.errors import ConfigError

SCENARIOS: tuple[Scenario, ...] = (
    *fairness.SCENARIOS,
    *controls.SCENARIOS,
    *races.SCENARIOS,
    *pool.SCENARIOS,
    *throughput.SCENARIOS,
)
GROUPS = tuple(dict.fromkeys(each.group for each in SCENARIOS))
SUITES = ("full", "quick")


def choose(names: list[str]) -> list[Scenario]:
    """Return the scenarios that suites, groups and names stand for, each once, in the order of a full run.

    Raises:
        ConfigError: a name stands for nothing; the message names the choices.
    """
    chosen: set[str] = set()
    for name in names:
        found = {each.name for each in SCENARIOS if _stands_for(name, each)}
        if not found:
            choices = ", ".join(dict.fromkeys((*SUITES, *GROUPS, *(each.name for each in SCENARIOS))))
            raise ConfigError(f"unknown scenario {ascii(name)[:60]}; choose from: {choices}")
        chosen |= found
    return [each for each in SCENARIOS if each.name in chosen]


def _stands_for(name: str, scenario: Scenario) -> bool:
    return name in {"full", scenario.group, scenario.name} or (name == "quick" and scenario.quick)
