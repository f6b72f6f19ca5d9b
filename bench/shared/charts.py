"""Shared by all charts: the look, lines that differ in colour and dashes, equal files for equal results."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.shared.kind import Chart

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
QUIET = "#7a8793"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", "-.", ":")
_MOST_LINES = 8
"""Tenants drawn; a chart with more lines cannot be read."""


def save_chart(
    directory: Path, scenario: str, kind: str, caption: str, paint: Callable[[Axes], None], title: str | None = None
) -> Chart:
    """Draw one chart into the folder of charts below ``directory``. ``title``: default is caption and scenario."""
    relative = f"{FOLDER}/{_stem(scenario)}-{kind}.svg"
    (directory / FOLDER).mkdir(exist_ok=True)
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        axes = figure.subplots()
        paint(axes)
        axes.set_title(title or f"{caption} – {scenario}", loc="left", fontsize=11)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        save(figure, directory / relative)
    return caption, relative


def save(figure: Figure, path: Path) -> None:
    """Write the figure. Equal figures give equal bytes."""
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _stem(scenario: str) -> str:
    """Return what the names of a scenario's files begin with."""
    return re.sub(r"[^a-z0-9-]+", "-", scenario.lower()).strip("-") or "scenario"


def draw_lines(axes: Axes, lines: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    """Draw one line per tenant, the highest first in the legend; a tenant keeps its colour from chart to chart."""
    by_height = sorted(lines.items(), key=lambda item: (-(item[1][-1][1] if item[1] else 0), item[0]))
    colours = {name: place for place, name in enumerate(sorted(lines))}
    for name, points in by_height[:_MOST_LINES]:
        draw_line(axes, colours[name], name, [(at_ms / 1000, value) for at_ms, value in points])
    more = len(lines) - _MOST_LINES
    draw_legend(axes, f"and {more} more" if more > 0 else None)


def draw_line(axes: Axes, place: int, name: str, points: Sequence[tuple[float, float]]) -> None:
    """Draw the chart's line number ``place``; colour and dashes together make it unique."""
    axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        label=name if len(name) <= 32 else f"{name[:31]}…",
        color=COLOURS[place % len(COLOURS)],
        linestyle=_DASHES[place % len(_DASHES)],
    )


def draw_legend(axes: Axes, title: str | None = None) -> None:
    """Name the lines, beside the chart."""
    axes.legend(title=title, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
