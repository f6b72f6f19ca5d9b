"""Renders a results file as Markdown with charts. Reads nothing but that file."""

from pathlib import Path

from bench.report import charts, charts_pool, markdown
from bench.results import Results

REPORT_NAME = "benchmark-report.md"


def write(results: Results, directory: Path) -> Path:
    """Write the report and its charts into ``directory``; return the report's path. Equal results give equal files."""
    drawn = charts.draw(results, directory) | charts_pool.draw(results, directory)
    path = directory / REPORT_NAME
    path.write_text(markdown.render(results, drawn), encoding="utf-8")
    return path
