"""Renders a results file as Markdown with charts. Reads nothing but that file."""

from pathlib import Path

from bench.kinds import kind_of_metrics
from bench.report import markdown
from bench.results import Results
from bench.shared.kind import Chart

REPORT_NAME = "benchmark-report.md"


def write(results: Results, directory: Path) -> Path:
    """Write the report and its charts into ``directory``; return the report's path. Equal results give equal files."""
    drawn: dict[str, list[Chart]] = {}
    for each in results.scenarios:
        kind = kind_of_metrics(each.metrics)
        drawn[each.name] = [] if kind is None else kind.charts(each.name, each.metrics, directory)
    path = directory / REPORT_NAME
    path.write_text(markdown.render(results, drawn), encoding="utf-8")
    return path
