"""The table of a race of controllers."""

from collections.abc import Iterator

from bench.races.metrics import RaceMetrics
from bench.shared.kind import Table
from bench.shared.text import escape, table

TERMS = {
    "naive": (
        "The **naive** side reads, decides, and then writes; a barrier stands where any delay could stand. The "
        "**repaired** side makes the same decision inside one script, so the second contender sees the first one's "
        "change."
    ),
}


def tables(metrics: RaceMetrics) -> Iterator[Table]:
    """Yield the table of both sides."""
    yield (
        "The race",
        table(
            [("Side", "left"), ("Contenders", "right"), ("Before", "right"), ("After", "right"), ("Answers", "left")],
            [
                [
                    name,
                    str(side.contenders),
                    str(side.before),
                    str(side.after),
                    escape(", ".join(f"{count} × {answer}" for answer, count in side.answers.items())),
                ]
                for name, side in [("naive", metrics.naive), *(("repaired", each) for each in metrics.repaired)]
            ],
        ),
    )
