"""The results file keeps its schema, and the report is made from the file alone."""

import json
import re

import pytest

from bench import report, results
from bench.kinds import SCENARIOS, choose
from bench.results import ScenarioResult
from bench.shared.metrics import Check, Metrics
from bench.shared.text import escape, plain, table, visible
from fairlane.errors import ConfigError
from tests.bench import worlds
from tests.bench.stream import Stream
from tests.bench.worlds import load, measured, observe, scenario


def small_run(tenant: str = "acme") -> ScenarioResult:
    stream = Stream((tenant, 2), ("b", 1))
    for number in range(9):
        stream.run(tenant, f"a{number}", handed=number * 110, until=number * 110 + 100)
        stream.run("b", f"b{number}", handed=number * 110 + 1, until=number * 110 + 101)
    stream.add(700, "adapt", ("capacity", 2, 1, "throttled"))
    small = scenario(load(tenant, weight=2), load("b"))
    metrics = measured(observe(small, stream.by_time()))
    checks = [check.judge(small, metrics) for check in small.checks]
    return ScenarioResult(
        name=small.name,
        group=small.group,
        title=small.title,
        claim=small.claim,
        config=small.settings(),
        metrics=metrics,
        checks=checks,
        passed=all(check.passed for check in checks),
        duration_s=1.5,
    )


class TestResultsFile:
    def test_a_round_trip_changes_nothing(self, tmp_path):
        run = worlds.results(small_run())
        path = results.save(run, tmp_path)
        assert path.name == "benchmark-results.json"
        assert results.parse(path.read_bytes()) == run
        assert [each.name for each in tmp_path.iterdir()] == [path.name]

    def test_the_names_are_those_of_the_schema(self):
        whole = json.loads(worlds.results(small_run()).to_json())
        assert whole["schema_version"] == 1
        assert set(whole) == {
            "schema_version", "passed", "started_at", "duration_s", "seed", "strategy", "environment", "scenarios",
            "claims",
        }  # fmt: skip
        (one,) = whole["scenarios"]
        assert set(one) == {
            "name", "group", "title", "claim", "config", "metrics", "checks", "passed", "duration_s",
        }  # fmt: skip
        assert {
            "jain", "evaluable", "evaluation_notes", "throughput_per_s", "successful_starts", "queue_wait_ms",
            "processing_ms", "end_to_end_ms", "tenants", "workers", "attempt_states", "potential_orphans",
            "peak_reserved_slots", "peak_reserved_cost", "peak_active_slots", "controller_events", "service_gap",
            "rounds", "reserved_occupancy", "provider_occupancy",
        } <= set(one["metrics"])  # fmt: skip
        assert one["metrics"]["controller_events"] == [{"at_ms": 700, "from": 2, "to": 1, "reason": "throttled"}]
        assert one["metrics"]["jain"] is None
        assert set(one["metrics"]["queue_wait_ms"]) == {"p50", "p95", "p99"}
        assert set(one["checks"][0]) == {"name", "passed", "observed", "expected"}
        assert "naive" not in one["metrics"]

    def test_metrics_of_an_unknown_kind_are_refused_in_one_line(self):
        whole = json.loads(worlds.results(small_run()).to_json())
        for change in ({"mood": "good"}, {"jain": "high"}):
            whole["scenarios"][0]["metrics"] |= change
            with pytest.raises(ConfigError, match=r"scenarios\.0\.metrics") as refused:
                results.parse(json.dumps(whole))
            assert "\n" not in str(refused.value)
            whole["scenarios"][0]["metrics"].pop("mood", None)

    @pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema_version": 2}', "not json"])
    def test_another_file_is_refused_in_one_line(self, text):
        with pytest.raises(ConfigError, match="not a results file") as refused:
            results.parse(text)
        assert "\n" not in str(refused.value)


class TestReport:
    def test_it_is_made_from_the_file_alone_and_always_the_same(self, tmp_path):
        run = worlds.results(small_run())
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        report.write(run, tmp_path / "one")
        report.write(results.parse(run.to_json()), tmp_path / "two")
        files = sorted(each.relative_to(tmp_path / "one") for each in (tmp_path / "one").rglob("*.*"))
        assert [str(each) for each in files] == [
            "benchmark-report.md",
            "charts/small-backlog.svg",
            "charts/small-capacity.svg",
            "charts/small-service.svg",
        ]
        for each in files:
            assert (tmp_path / "one" / each).read_bytes() == (tmp_path / "two" / each).read_bytes()

    def test_every_chart_it_shows_exists(self, tmp_path):
        text = report.write(worlds.results(small_run()), tmp_path).read_text()
        shown = re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)
        assert len(shown) == 3
        for path in shown:
            assert (tmp_path / path).read_text().startswith("<?xml")

    def test_a_failure_comes_first_with_what_was_observed_and_expected(self, tmp_path):
        text = report.write(worlds.results(small_run()), tmp_path).read_text()
        head = text.split("## Environment")[0]
        assert "**FAILED.** 1 of 1 checks" in head
        assert "18 successful starts" in head
        assert "every backlog ratio" in head

    def test_every_known_scenario_says_how_to_read_it(self, tmp_path):
        for each in SCENARIOS:
            done = ScenarioResult(
                name=each.name,
                group=each.group,
                title=each.title,
                claim=each.claim,
                config=each.settings(),
                metrics=Metrics(),
                checks=[Check(name="x", passed=True, observed=1, expected="1")],
                passed=True,
                duration_s=1.0,
            )
            text = report.write(worlds.results(done), tmp_path).read_text()
            assert "**Verdict.** It holds" in text
            assert "**How to read it.**" in text
            assert results.parse(worlds.results(done).to_json()).scenarios == [done]

    def test_lines_of_a_table_are_equally_long(self, tmp_path):
        text = report.write(worlds.results(small_run()), tmp_path).read_text()
        tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
        assert len(tables) > 5
        for each in tables:
            assert len({len(line) for line in each.splitlines()}) == 1


HOSTILE = "=cmd|'/c'!A1 <script>alert(1)</script> \x1b[31mred\x1b[0m `code` [x](y) *b* \u202e\n# top"


class TestHostileNames:
    def test_a_hostile_name_has_no_effect(self, tmp_path):
        text = report.write(worlds.results(small_run(HOSTILE)), tmp_path).read_text()
        assert "<script>" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\n# top" not in text
        assert not re.search(r"^\|? ?=", text, re.MULTILINE)
        row = next(line for line in text.splitlines() if "alert" in line and line.startswith("|"))
        assert len(re.findall(r"(?<!\\)\|", row)) == 12

    def test_charts_take_a_name_as_it_is(self, tmp_path):
        report.write(worlds.results(small_run("$x^2$ & <b>")), tmp_path)
        for path in (tmp_path / "charts").iterdir():
            assert "<b>" not in path.read_text()

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("a|b", r"a\|b"),
            ("<b>", "&lt;b&gt;"),
            ("\x1b[0m", r"(U+001B)\[0m"),
            ("=1+1", "&#61;1+1"),
            ("snake_case", "snake_case"),
            ("_emphasis_", r"\_emphasis\_"),
            ("a\nb", "a b"),
            ("ok-1.2@x", "ok-1.2@x"),
        ],
    )
    def test_escape(self, text, shown):
        assert escape(text) == shown

    def test_control_characters_are_shown_as_text(self):
        assert visible("a\x1b]0;title\x07b\r\nc") == "a(U+001B)]0;title(U+0007)b  c"


class TestText:
    def test_a_table_is_aligned_by_width_on_screen(self):
        lines = table([("Who", "left"), ("Count", "right")], [["日本", "1"], ["x", "1,000"]])
        assert lines == [
            "| Who  | Count |",
            "| ---- | ----: |",
            "| 日本 |     1 |",
            "| x    | 1,000 |",
        ]

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "nothing"),
            (True, "yes"),
            (0.25, "0.25"),
            ([], "none"),
            ({"a": 1, "b": [2, 3]}, "a: 1, b: 2, 3"),
        ],
    )
    def test_observations_read_as_text(self, value, text):
        assert plain(value) == text


class TestChoice:
    def test_full_is_everything_once(self):
        assert choose(["full", "fair", "fairness"]) == [each.brief() for each in SCENARIOS]

    @pytest.mark.parametrize("names", [["throughput"], ["full", "throughput"]])
    def test_a_scenario_named_alone_is_thorough(self, names):
        assert choose(names)[-1] == SCENARIOS[-1]
        assert choose(["full"])[-1] == SCENARIOS[-1].brief() != SCENARIOS[-1]

    def test_groups_and_names_keep_the_order_of_a_full_run(self):
        assert [each.name for each in choose(["race-controller", "fair", "baseline"])] == [
            "baseline",
            "fair",
            "race-controller",
        ]

    def test_quick_is_a_part_of_full(self):
        assert 0 < len(choose(["quick"])) < len(SCENARIOS)

    def test_an_unknown_name_lists_the_choices(self):
        with pytest.raises(ConfigError, match="unknown scenario 'nope'; choose from: full, quick, fairness"):
            choose(["fair", "nope"])
