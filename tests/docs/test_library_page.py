"""docs/library.md names every operation of a client and of an operator, with the parameters they have."""

import inspect
import re
from pathlib import Path

import pytest

from fairlane import Client, Operator, Scheduler, SchedulerOperator, SyncClient, SyncOperator, SyncScheduler

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
LIFE = {"start", "stop", "stop_now"}
"""Of a scheduler: its beginning and its end."""
INTERNAL = {"open", "close", "wait_for"}
"""Of a client: its beginning and its end, and a call of its handles."""
EVERYDAY = {"submit", "submit_many", "wait_many"}
PARTS = {"The client": Client, "The operator": SchedulerOperator}


PROGRAM = """
import asyncio
import fairlane

provider = "fairlane.providers.simulated:SimulatedProvider"
config = fairlane.SchedulerConfig(name="page", tenants={"acme": fairlane.TenantConfig()})

async def main():
    PAGE

asyncio.run(main())
"""


def _operations(kind: type) -> set[str]:
    return {name for name, value in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}


def _shown(heading: str) -> dict[str, list[str]]:
    """The operations below a heading, and the names of the parameters in their row."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \|", part, re.MULTILINE)
    return {name: re.findall(r"(?<![\w(])[a-z]\w*", re.sub(r"=…|\(…\)", "", shown)) for name, shown in rows}


@pytest.mark.parametrize("heading", PARTS)
def test_it_names_every_operation(heading: str) -> None:
    assert sorted(_shown(heading)) == sorted(_operations(PARTS[heading]) - INTERNAL)


@pytest.mark.parametrize("heading", PARTS)
def test_the_parameters_it_shows_are_there(heading: str) -> None:
    for name, parameters in _shown(heading).items():
        there = [each for each in inspect.signature(getattr(PARTS[heading], name)).parameters if each != "self"]
        assert [each for each in there if each in parameters] == parameters, name


def test_the_last_group_is_what_an_operator_needs_the_scheduler_for() -> None:
    last = PAGE.partition("\n| the scheduler's processes |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)\(", last, re.MULTILINE)) == _operations(SchedulerOperator) - _operations(
        Operator
    )


def test_a_scheduler_has_the_everyday_calls_of_its_client_and_nothing_else() -> None:
    assert _operations(Scheduler) == EVERYDAY | LIFE
    for name in EVERYDAY:
        assert inspect.signature(getattr(Scheduler, name)) == inspect.signature(getattr(Client, name)), name


@pytest.mark.parametrize(
    ("kind", "sync"), [(Client, SyncClient), (SchedulerOperator, SyncOperator), (Scheduler, SyncScheduler)]
)
def test_the_synchronous_objects_have_the_same_with_the_same_parameters(kind: type, sync: type) -> None:
    names = _operations(kind) - INTERNAL - {"stop_now"}
    assert names == _operations(sync)
    for name in names:
        parameters = [list(inspect.signature(getattr(each, name)).parameters) for each in (kind, sync)]
        assert parameters[0] == parameters[1], name


@pytest.mark.ray
@pytest.mark.usefixtures("platform")
def test_its_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [shown] = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(PROGRAM.replace("PAGE", shown.replace("\n", "\n    ")), "library.md", "exec"), {})
    output, errors = capsys.readouterr()
    assert errors == ""
    assert re.fullmatch(r"(pending|enqueued|active|completed) None\n", output)
