"""The cost of a decision in the report, and the summary of a load's turns."""

from typing import ClassVar

import pytest

from bench import report, terminal
from bench.throughput.measures import Turn, summed_up
from bench.throughput.metrics import Backlog, ThroughputMetrics
from tests.bench import worlds
from tests.bench.throughput.figures import call, metrics, point
from tests.bench.worlds import cells, ended


def turn(rate: float, calls: float, cpu_us: float, **commands: float) -> Turn:
    return Turn(rate, calls, cpu_us, commands, dict.fromkeys(commands, 2.0), events=3)


class TestTurns:
    REFERENCE: ClassVar = {0: turn(100, 20, 50), 1: turn(200, 20, 40), 2: turn(400, 20, 100)}

    def summed(self, turns: dict[int, Turn]):
        return summed_up(turns, tenants=3, tasks=10, reference=self.REFERENCE, reference_tenants=100)

    def test_medians_and_extremes(self):
        found = self.summed(
            {0: turn(90, 9, 30, hset=1), 1: turn(260, 11, 10, hset=3, rpush=6), 2: turn(300, 30, 90, hset=2)}
        )
        assert (found.median_tasks_per_s, found.fastest_tasks_per_s) == (260, 300)
        assert found.turns_per_s == {0: 90, 1: 260, 2: 300}
        assert (found.calls_per_task, found.most_calls_per_task) == (11, 30)
        assert found.redis_cpu_us_per_task == 30
        assert found.commands_per_task == {"hset": 2.0, "rpush": 0.0}
        assert found.us_per_call == {"hset": 2.0, "rpush": 2.0}

    def test_ratios_are_medians_of_ratios_and_not_ratios_of_medians(self):
        found = self.summed({0: turn(90, 9, 30), 1: turn(260, 9, 10), 2: turn(300, 9, 90)})
        assert (found.speed_ratio, found.cpu_ratio) == (0.9, 0.6)

    def test_a_turn_is_compared_with_the_reference_of_its_round(self):
        found = self.summed({2: turn(200, 9, 50)})
        assert (found.speed_ratio, found.cpu_ratio, found.turns_per_s) == (0.5, 0.5, {2: 200})

    @pytest.mark.parametrize("rounds", [[], [3], [0, 3]])
    def test_a_turn_without_its_reference(self, rounds):
        with pytest.raises(ValueError, match=r"rounds \[.*\] against \[0, 1, 2\]"):
            self.summed(dict.fromkeys(rounds, turn(1, 1, 1)))


def costs() -> ThroughputMetrics:
    figures = {"turns_per_s": {0: 111.1, 3: 222.2}, "calls_per_task": 10.0, "commands_per_task": {"hset": 4.25}}
    return metrics(
        loads=[
            point(3, 155.0, 12.0, fastest_tasks_per_s=222.2, speed_ratio=1.25, cpu_ratio=0.75, **figures),
            point(10_000, 100.0, fastest_tasks_per_s=150.0, commands_per_task={"hset": 7.0}, us_per_call={"hset": 0.5}),
        ],
        limited=point(100, 90.0, turns_per_s={0: 90.0, 1: 90.0}, commands_per_task={"hset": 6.5, "rpush": 1.0}),
        backlogs=[
            Backlog(
                tenants=3,
                pending=100_000,
                bytes_per_task=404.4,
                calls=[call(0, 1, 20.0), call(0, 64, None)],
                ratios={"1": 1.25, "64": None},
            )
        ],
    )


class TestTables:
    @pytest.fixture
    def text(self, tmp_path) -> str:
        return report.write(worlds.results(ended("throughput", costs())), tmp_path).read_text()

    def test_every_figure_names_its_statistic(self, text):
        heading = next(line for line in text.splitlines() if line.startswith("| Tenants | Limits"))
        assert [cell.strip() for cell in heading.strip("|").split("|")] == [
            "Tenants",
            "Limits of each",
            "Turns",
            "Tasks/s, median",
            "Fastest turn",
            "Speed against 100 tenants, median",
            "Server CPU µs per task, median",
            "CPU against 100 tenants, median",
            "Calls per task, median",
            "Calls per task, most",
        ]

    def test_median_fastest_and_ratios_of_each_load(self, text):
        rows = [line for line in text.splitlines() if "| none " in line]
        assert [cell.strip() for cell in rows[0].strip("|").split("|")] == [
            "3", "none", "2", "155", "222", "1.25 ×", "1.0", "0.75 ×", "10.0", "12.0",
        ]  # fmt: skip

    def test_the_turns_themselves_are_only_in_the_file(self, text):
        assert "111" not in text
        assert "111.1" in worlds.results(ended("throughput", costs())).to_json()

    def test_the_commands_of_all_loads_stand_beside_each_other(self, text):
        assert cells(text, "hset") == ["hset", "4.25", "7.00", "6.50", "0.5"]
        assert cells(text, "rpush") == ["rpush", "–", "–", "1.00", "–"]

    def test_each_queue_has_a_row_for_each_batch_and_dashes_for_missing_figures(self, text):
        rows = [line for line in text.splitlines() if "100,000" in line and "404" in line]
        assert [[cell.strip() for cell in row.strip("|").split("|")] for row in rows] == [
            ["3", "100,000", "1", "9", "20", "20", "1.25 ×", "404"],
            ["3", "100,000", "64", "9", "–", "–", "–", "404"],
        ]

    def test_the_terminal_shows_the_median(self):
        row = terminal._row(ended("throughput", costs()))
        assert "100.0" in [each.plain for each in row]
