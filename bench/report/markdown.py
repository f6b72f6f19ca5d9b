"""The report's pages: verdicts first, then every scenario with its claim, checks, figures and charts."""

from bench.report.readings import glossary, reading
from bench.report.tables import metric_tables
from bench.report.tables_controls import side_by_side
from bench.report.text import escape, number, plain, table
from bench.results import Check, Results, ScenarioResult


def render(results: Results, charts: dict[str, list[tuple[str, str]]]) -> str:
    """Render the whole report. ``charts``: by scenario, (caption, relative path)."""
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
    modes = list(side_by_side(results))
    if modes:
        lines += ["## Budgets side by side", ""]
    for caption, rows in modes:
        lines += [f"**{caption}**", "", *rows, ""]
    for scenario in results.scenarios:
        lines += _scenario(scenario, charts.get(scenario.name, []))
    terms = glossary(scenario.metrics for scenario in results.scenarios)
    if terms:
        lines += ["## What the figures mean", "", *(f"- {term}" for term in terms), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


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
        metrics = each.metrics
        windows = sum(tenant.starvation_windows for tenant in (metrics.tenants or {}).values())
        rows.append(
            [
                escape(each.name),
                "passed" if each.passed else "**FAILED**",
                f"{sum(check.passed for check in each.checks)}/{len(each.checks)}",
                number(metrics.jain, 3),
                number(metrics.throughput_per_s, 1),
                str(windows) if metrics.tenants else "–",
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


def _scenario(scenario: ScenarioResult, charts: list[tuple[str, str]]) -> list[str]:
    lines = [
        f"## {escape(scenario.name)}: {escape(scenario.title)}",
        "",
        f"**Claim.** {escape(scenario.claim)}",
        "",
        f"**Verdict.** {'It holds' if scenario.passed else 'It does NOT hold'}: "
        f"{sum(check.passed for check in scenario.checks)} of {len(scenario.checks)} checks passed.",
        "",
    ]
    text = reading(scenario)
    if text is not None:
        lines += [f"**How to read it.** {text}", ""]
    lines += [*_checks(scenario.checks), ""]
    for caption, rows in metric_tables(scenario.metrics):
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
