"""Charts of one scenario's series as SVG. Equal results give equal bytes."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from bench.results import Results, ScenarioResult, Series

FOLDER = "charts"

STYLE: dict[str, object] = {
    "svg.hashsalt": "fairlane",
    "svg.fonttype": "path",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e3e3e3",
    "axes.axisbelow": True,
    "lines.linewidth": 1.8,
}
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", "-.", ":")
_MOST_LINES = 8
"""Tenants drawn; a chart with more lines tells nothing."""


def draw(results: Results, directory: Path) -> dict[str, list[tuple[str, str]]]:
    """Draw every scenario that has series; return, by scenario, (caption, path relative to ``directory``)."""
    drawn: dict[str, list[tuple[str, str]]] = {}
    for scenario in results.scenarios:
        if scenario.metrics.series is not None:
            (directory / FOLDER).mkdir(exist_ok=True)
            drawn[scenario.name] = list(_draw_scenario(scenario, scenario.metrics.series, directory))
    return drawn


def stem(scenario: str) -> str:
    """Return what the names of a scenario's files begin with."""
    return re.sub(r"[^a-z0-9-]+", "-", scenario.lower()).strip("-") or "scenario"


def _draw_scenario(scenario: ScenarioResult, series: Series, directory: Path) -> list[tuple[str, str]]:
    charts: list[tuple[str, str, Callable[[Axes], None]]] = [
        ("service", "Cumulative service per weight", lambda axes: _service(axes, series)),
        ("backlog", "Tasks waiting to start", lambda axes: _backlog(axes, series)),
    ]
    if len({capacity for _, capacity in series.capacity}) > 1:
        charts.append(("capacity", "Pool capacity", lambda axes: _capacity(axes, series)))
    made = []
    for kind, caption, paint in charts:
        relative = f"{FOLDER}/{stem(scenario.name)}-{kind}.svg"
        with rc_context(STYLE):  # type: ignore[arg-type]
            figure = Figure(figsize=(8, 3.4), layout="constrained")
            axes = figure.subplots()
            paint(axes)
            axes.set_title(f"{caption} – {scenario.name}", loc="left", fontsize=11)
            axes.set_xlabel("time since the clock started (s)")
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
            _observed(axes, series)
            figure.savefig(directory / relative, format="svg", metadata={"Date": None, "Creator": None})
        made.append((caption, relative))
    return made


def _observed(axes: Axes, series: Series) -> None:
    first, last = (each / 1000 for each in series.observed_ms)
    axes.axvspan(first, last, color="#f4f6f8", zorder=0)
    axes.text(
        (first + last) / 2, 0.99, "observed", transform=axes.get_xaxis_transform(),
        ha="center", va="top", fontsize=8, color="#7a8793",
    )  # fmt: skip
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _service(axes: Axes, series: Series) -> None:
    draw_lines(axes, series.normalized_service)
    axes.set_ylabel("cost units ÷ weight")


def _backlog(axes: Axes, series: Series) -> None:
    draw_lines(axes, series.backlog)
    axes.set_ylabel("tasks")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _capacity(axes: Axes, series: Series) -> None:
    axes.step(
        [at_ms / 1000 for at_ms, _ in series.capacity],
        [capacity for _, capacity in series.capacity],
        where="post",
        color=_COLOURS[0],
    )
    axes.set_ylabel("slots")
    axes.set_ylim(top=max(capacity for _, capacity in series.capacity) + 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def draw_lines(axes: Axes, lines: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    """Draw one line per tenant, the highest first in the legend; a tenant keeps its colour from chart to chart."""
    by_height = sorted(lines.items(), key=lambda item: (-(item[1][-1][1] if item[1] else 0), item[0]))
    colours = {name: place for place, name in enumerate(sorted(lines))}
    for name, points in by_height[:_MOST_LINES]:
        draw_line(axes, colours[name], name, [(at_ms / 1000, value) for at_ms, value in points])
    more = len(lines) - _MOST_LINES
    axes.legend(
        title=f"and {more} more" if more > 0 else None, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False
    )


def draw_line(axes: Axes, place: int, name: str, points: Sequence[tuple[float, float]]) -> None:
    """Draw the chart's line number ``place``; colour and dashes together tell it from the others."""
    axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        label=name if len(name) <= 32 else f"{name[:31]}…",
        color=_COLOURS[place % len(_COLOURS)],
        linestyle=_DASHES[place % len(_DASHES)],
    )
