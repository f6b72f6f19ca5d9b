"""The chart of a worker that slows down: what part of the load it carries, strategy by strategy."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from bench.figures_pool import PoolTrial
from bench.report.charts import FOLDER, STYLE, draw_line, stem
from bench.results import Results

_QUIET = "#7a8793"
_CAPTION = "Part of the load on the worker that slows down"


def draw(results: Results, directory: Path) -> dict[str, list[tuple[str, str]]]:
    """Draw every scenario in which a worker slows down; return, by scenario, (caption, path below ``directory``)."""
    drawn = {}
    for scenario in results.scenarios:
        trials = [each for each in scenario.metrics.pool_trials or [] if each.slowing is not None]
        if trials:
            (directory / FOLDER).mkdir(exist_ok=True)
            relative = f"{FOLDER}/{stem(scenario.name)}-slowdown.svg"
            _paint(trials, directory / relative)
            drawn[scenario.name] = [(_CAPTION, relative)]
    return drawn


def _paint(trials: list[PoolTrial], path: Path) -> None:
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        axes = figure.subplots()
        for place, trial in enumerate(trials):
            draw_line(axes, place, trial.strategy, trial.slowing_load)
        if trials[0].slows_after is not None:
            _turn(axes, trials[0].slows_after, f"{trials[0].slowing} slows down")
        axes.set_title(_CAPTION, loc="left", fontsize=11)
        axes.set_xlabel("tasks begun")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _turn(axes: Axes, at: int, text: str) -> None:
    axes.axvline(at, color=_QUIET, linewidth=1, linestyle=":")
    axes.text(
        at, 0.02, f" {text}", transform=axes.get_xaxis_transform(), ha="left", va="bottom", fontsize=8, color=_QUIET
    )
