"""The chart of a worker that slows down: its part of the load, strategy by strategy."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from bench.shared.charts import QUIET, draw_legend, draw_line, save_chart
from bench.shared.kind import Chart
from bench.workers.metrics import StrategiesMetrics, Trial

_CAPTION = "Part of the load on the worker that slows down"


def charts(scenario: str, metrics: StrategiesMetrics, directory: Path) -> list[Chart]:
    """Draw the trials in which a worker slows down, if there are any."""
    trials = [each for each in metrics.trials if each.slowing is not None]
    if not trials:
        return []
    return [save_chart(directory, scenario, "slowdown", _CAPTION, lambda axes: _loads(axes, trials), _CAPTION)]


def _loads(axes: Axes, trials: list[Trial]) -> None:
    for place, trial in enumerate(trials):
        draw_line(axes, place, trial.strategy, trial.slowing_load)
    first = trials[0]
    if first.slows_after is not None:
        axes.axvline(first.slows_after, color=QUIET, linewidth=1, linestyle=":")
        axes.text(
            first.slows_after, 0.02, f" {first.slowing} slows down", transform=axes.get_xaxis_transform(),
            ha="left", va="bottom", fontsize=8, color=QUIET,
        )  # fmt: skip
    axes.set_xlabel("tasks begun")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    draw_legend(axes)
