"""The chart of a worker that slows down: what part of the load it carries, strategy by strategy."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from bench.figures_pool import PoolTrial
from bench.report.charts import FOLDER, STYLE, stem
from bench.results import Results

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
        for trial in trials:
            points = trial.slowing_load
            axes.plot([choices for choices, _ in points], [share for _, share in points], label=trial.strategy)
        turn = trials[0].slows_after
        if turn is not None:
            axes.axvline(turn, color="#7a8793", linewidth=1, linestyle=":")
        axes.set_title(_CAPTION, loc="left", fontsize=11)
        axes.set_xlabel("tasks begun")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.legend(loc="lower left", frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
