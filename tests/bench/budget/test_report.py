"""Budgets in the report."""

from bench import report
from bench.shared.metrics import Check
from tests.bench import worlds
from tests.bench.budget.figures import BROKEN, WINDOW, bursts, race, run
from tests.bench.fairness.figures import metrics
from tests.bench.worlds import ended


class TestBudgets:
    def rows(self, text: str, heading: str) -> dict[str, list[str]]:
        part = text.split(heading)[1].split("\n#", maxsplit=1)[0]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if "|" in line]
        return {first: rest for first, *rest in cells}

    def test_both_modes_stand_side_by_side(self, tmp_path):
        ends = Check(name="how the race ends", passed=True, observed=1, expected="1")
        both = worlds.results(
            ended(
                "budget-naive",
                bursts(run(tasks_per_s=51.0), sides=(BROKEN,)),
                ends,
            ),
            ended(
                "budget-atomic",
                bursts(run(WINDOW, tasks_per_s=4.5), run(), sides=(race(),)),
                ends.model_copy(update={"passed": False}),
            ),
        )
        rows = self.rows(report.write(both, tmp_path).read_text(), "## Budgets side by side")
        assert rows[""] == ["budget-naive", "budget-atomic"]
        assert rows["load, no window: tasks/s"] == ["51.0", "50.0"]
        assert rows["load, 4 starts per 1,000 ms: tasks/s"] == ["–", "4.5"]
        assert rows["race: accepted"] == ["4 of 4", "2 of 4"]
        assert rows["race: remaining"] == ["100 of 200", "0 of 200"]
        assert rows["race: admitted"] == ["200%", "100%"]
        assert rows["race: in the ledger"] == ["50%", "100%"]
        assert rows["load, no window: maximum concurrency"] == ["4 of 6 the workers could run"] * 2
        assert rows["check: how the race ends"] == ["passed", "**FAILED**"]
        for what in ("waiting", "processing", "end to end"):
            assert rows[f"load, no window: {what} p50 / p95 / p99 ms"] == ["– / – / –"] * 2

    def test_the_load_is_labelled_as_run_by_the_product(self, tmp_path):
        modes = worlds.results(
            ended("budget-naive", bursts(run(), sides=(BROKEN,))),
            ended("budget-atomic", bursts(run(), sides=(race(),))),
        )
        text = report.write(modes, tmp_path).read_text()
        raced, loaded = text.split("**The race: each mode in its own way**")[1].split("**The load: ")
        assert self.rows(f"#{raced}", "#")["run by"] == ["bench/budget/naive", "the product"]
        assert self.rows(f"#{loaded}", "#")["run by"] == ["the product", "the product"]
        assert "load, " not in raced
        assert "race: " not in loaded.split("**The checks**")[0]

    def test_without_budgets_there_is_no_such_table(self, tmp_path):
        assert "side by side" not in report.write(worlds.results(ended("other", metrics())), tmp_path).read_text()
