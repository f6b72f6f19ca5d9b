"""docs/performance.md shows the committed budget."""

import subprocess
import sys
from pathlib import Path

from tools.docs.performance import render

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"


def test_the_page_is_the_generated_one() -> None:
    made = subprocess.check_output([sys.executable, "-m", "tools.docs.performance"], text=True)
    assert PAGE.read_text(encoding="utf-8") == made == render(), "run make docs"
