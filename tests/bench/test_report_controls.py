"""How budgets, throttles and hand-overs appear in the report."""

from bench import report
from bench.results import Check, Metrics, ScenarioResult
from tests.bench import control_figures, worlds


def control_run(name: str, metrics: Metrics, *checks: Check) -> ScenarioResult:
    return ScenarioResult(
        name=name,
        group="budget",
        title="t",
        claim="c",
        config={},
        metrics=metrics,
        checks=[*checks],
        passed=all(each.passed for each in checks),
        duration_s=1.0,
    )


class TestBudgets:
    def rows(self, text: str, heading: str) -> dict[str, list[str]]:
        part = text.split(heading)[1].split("\n#", maxsplit=1)[0]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if "|" in line]
        return {first: rest for first, *rest in cells}

    def test_both_modes_stand_side_by_side(self, tmp_path):
        ends = Check(name="how the race ends", passed=True, observed=1, expected="1")
        both = worlds.results(
            control_run(
                "budget-naive",
                Metrics(bursts=[control_figures.run(tasks_per_s=51.0)], budget_race=[control_figures.BROKEN]),
                ends,
            ),
            control_run(
                "budget-atomic",
                Metrics(
                    bursts=[control_figures.run("4 starts per 1,000 ms", tasks_per_s=4.5), control_figures.run()],
                    budget_race=[control_figures.race()],
                ),
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

    def test_nobody_takes_the_products_load_for_a_naive_one(self, tmp_path):
        modes = worlds.results(
            control_run("budget-naive", Metrics(bursts=[control_figures.run()], budget_race=[control_figures.BROKEN])),
            control_run("budget-atomic", Metrics(bursts=[control_figures.run()], budget_race=[control_figures.race()])),
        )
        text = report.write(modes, tmp_path).read_text()
        race, load = text.split("**The race: each mode in its own way**")[1].split("**The load: ")
        assert self.rows(f"#{race}", "#")["run by"] == ["bench/naive", "the product"]
        assert self.rows(f"#{load}", "#")["run by"] == ["the product", "the product"]
        assert "load, " not in race
        assert "race: " not in load.split("**The checks**")[0]

    def test_without_budgets_there_is_no_such_table(self, tmp_path):
        assert (
            "side by side"
            not in report.write(worlds.results(control_run("other", Metrics(jain=0.9))), tmp_path).read_text()
        )

    def test_a_throttle_and_both_hand_overs_are_told(self, tmp_path):
        metrics = Metrics(
            requeue=control_figures.requeue(task="burst:<b>").requeue,
            naive_handoff=control_figures.orphan().naive_handoff,
            handoff=control_figures.handoff().handoff,
        )
        text = report.write(worlds.results(control_run("all", metrics)), tmp_path).read_text()
        rows = self.rows(text, "## all: t")
        assert rows["task"] == ["burst:&lt;b&gt;"]
        assert rows["next start anywhere after"] == ["500 ms"]
        assert rows["orphans"] == ["task-1"]
        assert rows["hand-overs before each"] == ["9 4"]
