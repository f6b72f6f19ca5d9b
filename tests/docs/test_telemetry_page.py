"""docs/telemetry.md says what the module of names says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairlane.telemetry.names import INSTRUMENTS, SPANS
from tools.docs.telemetry import render

PAGE = Path(__file__).parents[2] / "docs" / "telemetry.md"


def test_the_page_is_the_generated_one() -> None:
    made = subprocess.check_output([sys.executable, "-m", "tools.docs.telemetry"], text=True)
    assert PAGE.read_text(encoding="utf-8") == made == render(), "run make docs"


@pytest.mark.parametrize("each", [*INSTRUMENTS, *SPANS], ids=lambda each: each.name)
def test_it_says_what_there_is_to_know(each: object) -> None:
    (row,) = re.findall(rf"^\| `{re.escape(each.name)}` .*$", render(), re.MULTILINE)  # type: ignore[attr-defined]
    assert each.meaning in row  # type: ignore[attr-defined]
    for attribute in each.attributes:  # type: ignore[attr-defined]
        assert f"`{attribute}`" in row


def test_no_name_is_used_twice() -> None:
    names = [each.name for each in (*INSTRUMENTS, *SPANS)]
    assert len(names) == len(set(names))


def test_the_recipe_of_the_page_shows_metrics_and_spans(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    path = tmp_path / "program.py"
    path.write_text(program)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for name in (
        "fairlane.workers.tasks",
        "fairlane.workers.task.duration",
        "fairlane.workers.assign",
        "fairlane.workers.execute",
    ):
        assert f'"name": "{name}"' in done.stdout
