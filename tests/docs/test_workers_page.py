"""docs/workers.md: its programs run, and its tables are those of the code."""

import os
import re
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

import pytest

from fairlane.domain.strategy_name import StrategyName
from fairlane.workers import WORKER_ERROR_CODES, TaskStatus, WorkerStatus

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "workers.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def _rows(header: str) -> list[list[str]]:
    """The cells of the table below a header row."""
    lines = PAGE.partition(f"\n{header}\n")[2].splitlines()[1:]
    assert lines, f"there is no table {header!r}"
    table = lines[: lines.index("")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


@pytest.mark.parametrize(
    ("program", "printed"),
    list(zip(PROGRAMS, ["[0, 2, 4, 6, 8]", "DONE", "[0, 5]"], strict=True)),
    ids=["quick start", "transport", "strategy"],
)
def test_its_programs_run(program: str, printed: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(program)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [printed]


def test_the_quick_start_is_what_it_promises() -> None:
    quick_start = PROGRAMS[0]
    assert quick_start.count("capacity=4") == 2
    assert "ManagerConfig(retries=2)" in quick_start
    assert "assert await manager.assign(double, 21) == 42" in quick_start


def test_its_table_of_errors_is_the_codes_own() -> None:
    rows = _rows("| code | meaning | retried |")
    facts = [
        [f"`{code}`", each.meaning, "yes" if each.retryable else "no"] for code, each in WORKER_ERROR_CODES.items()
    ]
    assert rows == facts


@pytest.mark.parametrize(
    ("header", "statuses"), [("| status of a worker | |", WorkerStatus), ("| status of a task | |", TaskStatus)]
)
def test_its_tables_of_statuses_are_complete(header: str, statuses: type[StrEnum]) -> None:
    assert [name for name, _ in _rows(header)] == [f"`{status}`" for status in statuses]


def test_its_table_of_strategies_is_complete() -> None:
    rows = _rows("| name | next is the worker with |")
    assert [name for name, _ in rows] == [f"`{name}`" for name in StrategyName]
