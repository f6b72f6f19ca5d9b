"""docs/library.md names every operation of a scheduler, with the parameters it has, and those of a client."""

import inspect
import re
from pathlib import Path

import pytest

from fairlane import Scheduler, SyncScheduler
from fairlane.lifecycle.client import Client

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
LIFE = {"start", "stop", "stop_now"}
"""The operations that begin and end it."""
HEADINGS = ("Tasks", "Tenants and budgets", "The pool")


def _operations(kind: type) -> set[str]:
    return {name for name, value in vars(kind).items() if name[0] != "_" and inspect.isfunction(value)}


def _told(heading: str) -> dict[str, list[str]]:
    """The operations below a heading, and the names of the parameters they are shown with."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \|", part, re.MULTILINE)
    return {name: re.findall(r"(?<![\w(])[a-z]\w*", re.sub(r"=…|\(…\)", "", shown)) for name, shown in rows}


def test_it_names_every_operation_of_a_scheduler() -> None:
    told = [name for heading in HEADINGS for name in _told(heading)]
    assert sorted(told) == sorted(_operations(Scheduler) - LIFE)


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_parameters_it_shows_are_there(heading: str) -> None:
    for name, parameters in _told(heading).items():
        there = [each for each in inspect.signature(getattr(Scheduler, name)).parameters if each != "self"]
        assert [each for each in there if each in parameters] == parameters, name


def test_a_client_has_the_operations_for_tasks() -> None:
    assert set(_told("Tasks")) <= _operations(Client)


def test_the_synchronous_scheduler_has_the_same_with_the_same_parameters() -> None:
    for name in _operations(Scheduler) - {"stop_now"}:
        parameters = [list(inspect.signature(getattr(kind, name)).parameters) for kind in (Scheduler, SyncScheduler)]
        assert parameters[0] == parameters[1], name
