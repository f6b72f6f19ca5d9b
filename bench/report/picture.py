"""The README's picture: service per weight without and with Fairlane, side by side.

python -m bench.report.picture bench-results/benchmark-results.json docs/images/service.svg
"""

import sys
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from bench.fairness.metrics import FairnessMetrics
from bench.results import Results, parse
from bench.shared.charts import STYLE, draw_lines, save

_PANELS = (("baseline", "Strict priority"), ("contention", "Fairlane"))


def paint(results: Results, path: Path) -> None:
    """Draw both panels on one scale. Both scenarios must be in the results."""
    series = {each.name: each.metrics.series for each in results.scenarios if isinstance(each.metrics, FairnessMetrics)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(9, 3.2), layout="constrained")
        for axes, (name, title) in zip(figure.subplots(1, 2, sharey=True), _PANELS, strict=True):
            draw_lines(axes, series[name].normalized_service)
            axes.set_title(title, loc="left", fontsize=11)
            axes.set_xlabel("seconds")
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        figure.axes[0].set_ylabel("cost served ÷ weight")
        figure.axes[0].get_legend().remove()  # type: ignore[union-attr]
        save(figure, path)


if __name__ == "__main__":
    paint(parse(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]))
