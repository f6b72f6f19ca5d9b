"""Strategies and workers that fail in the report."""

from bench import report
from bench.results import parse
from tests.bench import worlds
from tests.bench.workers.figures import health, trial, trials, worker
from tests.bench.worlds import cells, ended


def contests():
    slows = {"slowing": "<x>", "slows_after": 50, "slowing_load": [(25, 0.5), (50, 0.4), (75, 0.2)]}
    tired = worker("<x>", load_before=0.5, load_after=0.2, share_before=0.4, share_after=0.1)
    return trials(
        trial("spread", "round-robin", choices="ab" * 40),
        trial("weights", "weighted", worker("x", weight=3, share=0.75, longest_run=2), worker("y"), seed=7),
        trial("makespan", "least-busy", makespan_ms=1_234.5),
        trial("slowdown", "least-busy", tired, worker("y"), **slows),
        trial("slowdown", "least-busy-ewma", tired, worker("y"), **slows),
    )


class TestStrategies:
    def test_each_contest_has_its_table(self, tmp_path):
        text = report.write(worlds.results(ended("pool", contests())), tmp_path).read_text()
        assert "4 tasks over a = x (4 slots, weight 1), b = y (4 slots, weight 1)" in text
        assert cells(text, "round-robin")[-1] == "ab" * 15
        assert cells(text, "weighted")[1:5] == ["7", "2 / 2", "75.0% / 50.0%", "2 / 1"]
        assert cells(text, "least-busy")[1:] == ["1,234", "2 / 2", "2 of 4 / 2 of 4"]
        assert cells(text, "least-busy-ewma")[1:] == [
            "&lt;x&gt; after 50 choices", "50.0%", "20.0%", "40.0%", "10.0%", "100",
        ]  # fmt: skip
        assert "**longest run**" in text

    def test_the_chart_shows_the_load_of_the_slow_worker(self, tmp_path):
        run = worlds.results(ended("pool", contests()))
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        text = report.write(run, tmp_path / "one").read_text()
        report.write(parse(run.to_json()), tmp_path / "two")
        assert "(charts/pool-slowdown.svg)" in text
        drawn = (tmp_path / "one" / "charts" / "pool-slowdown.svg").read_bytes()
        assert drawn.startswith(b"<?xml")
        assert drawn.count(b"stroke-dasharray: 6.66,2.88") > 0, "the second strategy's dashes"
        for part in (b"#0072b2", b"#d55e00", b"<!--  &lt;x&gt; slows down -->"):
            assert part in drawn
        assert drawn == (tmp_path / "two" / "charts" / "pool-slowdown.svg").read_bytes()

    def test_without_a_slow_worker_there_is_no_chart(self, tmp_path):
        run = worlds.results(ended("pool", trials(trial("spread", "round-robin"))))
        assert "![" not in report.write(run, tmp_path).read_text()
        assert not (tmp_path / "charts").exists()


class TestHealth:
    def test_tasks_workers_and_checks(self, tmp_path):
        metrics = health(errors=["lost | gone"], stuck={"good_checks": None, "back_after_ms": None})
        text = report.write(worlds.results(ended("health", metrics)), tmp_path).read_text()
        assert cells(text, "answered") == ["answered", "100 of 100"]
        assert cells(text, "attempts") == ["attempts", "96 tasks in 1, 4 tasks in 2"]
        assert cells(text, "taken out after failed checks")[1:] == ["3 unhealthy", "3 timeout"]
        assert cells(text, "back after")[1:] == ["2 good checks", "– good checks"]
        assert cells(text, "worker-3")[1:] == ["20; before it hung 20.0 in as much time; 20.0 by the interval"]
        assert r"lost \| gone" in text
        assert "**taken out**" in text
