"""The report's pages: verdicts first, then every scenario with its claim, checks, figures and charts."""

from collections.abc import Iterator

from bench.kinds import KINDS, SCENARIOS, kind_of_metrics
from bench.results import Results, ScenarioResult
from bench.shared.kind import Chart, Outcome
from bench.shared.metrics import Check
from bench.shared.text import escape, number, plain, table

_READINGS = {each.name: each.reading for each in SCENARIOS}


def render(results: Results, charts: dict[str, list[Chart]]) -> str:
    """Render the whole report. ``charts``: by scenario."""
    lines = [
        "# Benchmark report",
        "",
        *_verdict(results),
        "",
        "## Environment",
        "",
        *_environment(results),
        "",
        "## Summary",
        "",
        *_summary(results),
        "",
    ]
    if results.claims:
        lines += ["## Comparisons", "", *_checks(results.claims), ""]
    lines += _overviews(results)
    for scenario in results.scenarios:
        lines += _scenario(scenario, charts.get(scenario.name, []))
    terms = list(_terms(results))
    if terms:
        lines += ["## What the figures mean", "", *(f"- {term}" for term in terms), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _overviews(results: Results) -> list[str]:
    """Compare the scenarios of each kind that has such a section."""
    lines = []
    for kind in KINDS:
        ended = [
            Outcome(each.name, each.metrics, each.checks)
            for each in results.scenarios
            if kind_of_metrics(each.metrics) is kind
        ]
        if kind.overview is not None and ended:
            lines += [f"## {kind.overview.heading}", ""]
            for caption, rows in kind.overview.tables(ended):
                lines += [f"**{caption}**", "", *rows, ""]
    return lines


def _terms(results: Results) -> Iterator[str]:
    """Yield the explanations of the metrics that have a value."""
    for kind in KINDS:
        shown = [each.metrics for each in results.scenarios if kind_of_metrics(each.metrics) is kind]
        yield from (text for name, text in kind.terms.items() if any(getattr(each, name) for each in shown))


def _verdict(results: Results) -> list[str]:
    checks = [check for scenario in results.scenarios for check in scenario.checks] + results.claims
    failed = [check for check in checks if not check.passed]
    if results.passed:
        return [f"**PASSED.** All {len(checks)} checks of {len(results.scenarios)} scenarios hold."]
    lines = [f"**FAILED.** {len(failed)} of {len(checks)} checks do not hold:", ""]
    for scenario in results.scenarios:
        lines += [f"- {escape(scenario.name)}: {_sentence(check)}" for check in scenario.checks if not check.passed]
    return lines + [f"- {_sentence(check)}" for check in results.claims if not check.passed]


def _sentence(check: Check) -> str:
    return f"{escape(check.name)} – observed {escape(plain(check.observed))}; expected {escape(check.expected)}"


def _environment(results: Results) -> list[str]:
    facts = results.environment
    rows = [
        ("Started", results.started_at),
        ("Duration", number(results.duration_s, 1, " s")),
        ("Seed", str(results.seed)),
        ("Dispatchers' strategy", results.strategy),
        ("Fairlane", f"{facts.fairlane} (git {facts.git})"),
        ("Native core", f"{facts.core.profile} build, {facts.core.path}"),
        ("Python", facts.python),
        ("Ray", facts.ray),
        ("Server", f"{facts.server.name} {facts.server.version}"),
        ("CPUs", str(facts.cpus)),
    ]
    return table([("", "left"), ("", "left")], [[escape(name), escape(value)] for name, value in rows])


def _summary(results: Results) -> list[str]:
    rows = []
    for each in results.scenarios:
        headline = each.metrics.headline()
        rows.append(
            [
                escape(each.name),
                "passed" if each.passed else "**FAILED**",
                f"{sum(check.passed for check in each.checks)}/{len(each.checks)}",
                number(headline.jain, 3),
                number(headline.tasks_per_s, 1),
                number(headline.starvation_windows, 0),
                number(each.duration_s, 1),
            ]
        )
    return table(
        [
            ("Scenario", "left"),
            ("Verdict", "left"),
            ("Checks", "right"),
            ("Jain", "right"),
            ("Tasks/s", "right"),
            ("Starvation windows", "right"),
            ("Took s", "right"),
        ],
        rows,
    )


def _scenario(scenario: ScenarioResult, charts: list[Chart]) -> list[str]:
    lines = [
        f"## {escape(scenario.name)}: {escape(scenario.title)}",
        "",
        f"**Claim.** {escape(scenario.claim)}",
        "",
        f"**Verdict.** {'It holds' if scenario.passed else 'It does NOT hold'}: "
        f"{sum(check.passed for check in scenario.checks)} of {len(scenario.checks)} checks passed.",
        "",
    ]
    if scenario.name in _READINGS:
        lines += [f"**How to read it.** {_READINGS[scenario.name]}", ""]
    lines += [*_checks(scenario.checks), ""]
    kind = kind_of_metrics(scenario.metrics)
    for caption, rows in () if kind is None else kind.tables(scenario.metrics):
        lines += [f"**{caption}**", "", *rows, ""]
    for caption, path in charts:
        lines += [f"![{escape(caption)}]({path})", ""]
    return lines


def _checks(checks: list[Check]) -> list[str]:
    return table(
        [("Check", "left"), ("", "left"), ("Observed", "left"), ("Expected", "left")],
        [
            [
                escape(check.name),
                "passed" if check.passed else "**FAILED**",
                escape(plain(check.observed)),
                escape(check.expected),
            ]
            for check in checks
        ],
    )
