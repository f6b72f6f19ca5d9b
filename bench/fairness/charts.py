"""The charts of a fairness scenario: service per weight, backlog, and capacity if it moved."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from bench.fairness.metrics import FairnessMetrics, Series
from bench.shared.charts import COLOURS, QUIET, draw_lines, save_chart
from bench.shared.kind import Chart

Painter = Callable[[Axes, Series], None]


def charts(scenario: str, metrics: FairnessMetrics, directory: Path) -> list[Chart]:
    """Draw the scenario's series."""
    series = metrics.series
    drawn: list[tuple[str, str, Painter]] = [
        ("service", "Cumulative service per weight", _service),
        ("backlog", "Tasks waiting to start", _backlog),
    ]
    if len({capacity for _, capacity in series.capacity}) > 1:
        drawn.append(("capacity", "Pool capacity", _capacity))
    return [
        save_chart(directory, scenario, kind, caption, partial(_over_time, series=series, paint=paint))
        for kind, caption, paint in drawn
    ]


def _over_time(axes: Axes, series: Series, paint: Painter) -> None:
    """Draw over the run's time, in which the observation window shows."""
    paint(axes, series)
    axes.set_xlabel("time since the clock started (s)")
    first, last = (each / 1000 for each in series.observed_ms)
    axes.axvspan(first, last, color="#f4f6f8", zorder=0)
    axes.text(
        (first + last) / 2, 0.99, "observed", transform=axes.get_xaxis_transform(),
        ha="center", va="top", fontsize=8, color=QUIET,
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
        color=COLOURS[0],
    )
    axes.set_ylabel("slots")
    axes.set_ylim(top=max(capacity for _, capacity in series.capacity) + 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
