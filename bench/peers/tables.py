"""The page of the comparison."""

from collections.abc import Iterator, Sequence
from typing import Final

from bench.peers.results import PeerFigures, PeerResults
from bench.peers.roster import FAIRLANE, PEERS, REFERENCE
from bench.shared.metrics import Check
from bench.shared.text import Align, escape, milliseconds, number, plain, table

PAGE_NAME: Final = "peers.md"
_REFERENCE = next(each.name for each in PEERS if each.key == REFERENCE)
_METHOD: Final = f"""\
Every queue gets the same tasks, on the same server binary, with two workers. A task returns a small result that depends
on its payload and leaves a line in a file. In each round every queue has one turn, one after the other; the order is
reversed from round to round. A turn has a server, a client and workers of its own, all of them fresh processes on one
unix socket, and nothing else runs meanwhile:

1. Tasks wait while no worker takes any: **bytes per waiting task** is the server's memory that they add.
2. They run, and so do more, until both workers have run some. This warms everything up.
3. **Round trip**: one task is submitted and awaited, then the next one. The percentiles are over all rounds.
4. **Load**: from the first submit until the client has seen every result. A figure is the median of the rounds.
   **Against {_REFERENCE}** is the median of the ratios to its load in the same round. **CPU** is that of the server,
   and that of all processes of the client and the workers together.

At the end every task must have run exactly once, and its client must have seen its right result.

Only Fairlane knows tenants, so only it has loads for several numbers of tenants. Slow queues get smaller loads."""


def render(results: PeerResults) -> str:
    """Render the page."""
    parts = ["# Fairlane beside other queues", *_verdicts(results)]
    for heading, blocks in sections(results).items():
        parts += [f"## {heading}", *blocks]
    return "\n\n".join(parts) + "\n"


def sections(results: PeerResults) -> dict[str, list[str]]:
    """Return the page's sections: blocks of Markdown by heading."""
    goals = _checks(results.goals, "met", "**missed**") if results.goals else [f"None: {_REFERENCE} did not run."]
    blocks = {
        "Figures": [_loads(results.peers), _trips(results.peers)],
        "Goals": [goals],
        "Delivery": [_checks(results.delivery, "exact", "**FAILED**")],
        "What each can do": [["As documented; a dash: nothing of the kind is."], _abilities()],
        "Method": [[_METHOD]],
        "Settings and versions": [_settings(results.peers)],
        "Machine": [_machine(results)],
    }
    return {heading: ["\n".join(lines) for lines in found] for heading, found in blocks.items()}


def _verdicts(results: PeerResults) -> Iterator[str]:
    missed = [each for each in results.goals if not each.passed]
    yield "**Delivery is exact everywhere.**" if results.exact else "**FAILED: delivery is not exact everywhere.**"
    if results.goals:
        yield f"**{len(results.goals) - len(missed)} of {len(results.goals)} goals are met.**"
    if results.skipped:
        yield left_out(results)


def left_out(results: PeerResults) -> str:
    """List the queues that were left out, and why."""
    return "\n".join(f"- {escape(skip_line(each.name, each.reason))}" for each in results.skipped)


def skip_line(name: str, reason: str) -> str:
    """Say in one line that a queue was left out, and why."""
    return f"{name} is left out: {reason}"


def _loads(peers: Sequence[PeerFigures]) -> list[str]:
    headings: list[tuple[str, Align]] = [
        ("Queue", "left"),
        ("Tenants", "right"),
        ("Tasks", "right"),
        ("Tasks/s", "right"),
        ("Fastest round", "right"),
        (f"Against {_REFERENCE}", "right"),
        ("Server CPU µs per task", "right"),
        ("Client and workers CPU µs per task", "right"),
        ("Server commands per task", "right"),
    ]
    return table(
        headings,
        [
            [
                escape(each.name),
                number(load.tenants, 0) if each.name == FAIRLANE.name else "–",
                number(load.tasks, 0),
                number(load.tasks_per_s, 0),
                number(load.fastest_tasks_per_s, 0),
                number(load.ratio, 2, " ×"),
                number(load.server_cpu_us, 0),
                number(load.crew_cpu_us, 0),
                number(load.calls, 1),
            ]
            for each in peers
            for load in each.loads
        ],
    )


def _trips(peers: Sequence[PeerFigures]) -> list[str]:
    return table(
        [
            ("Queue", "left"),
            ("Round trip p50 ms", "right"),
            ("p99 ms", "right"),
            ("p99.9 ms", "right"),
            ("Round trips", "right"),
            ("Bytes per waiting task", "right"),
        ],
        [
            [
                escape(each.name),
                milliseconds(each.trips.p50),
                milliseconds(each.trips.p99),
                milliseconds(each.trips.p999),
                number(each.trips.count, 0),
                number(each.bytes_per_task, 0),
            ]
            for each in peers
        ],
    )


def _checks(checks: Sequence[Check], good: str, bad: str) -> list[str]:
    return table(
        [("", "left"), ("", "left"), ("Observed", "left"), ("Expected", "left")],
        [
            [escape(each.name), good if each.passed else bad, escape(plain(each.observed)), escape(each.expected)]
            for each in checks
        ],
    )


def _abilities() -> list[str]:
    return table(
        [(heading, "left") for heading in ("Queue", "Fairness", "Ceilings", "Budgets", "Fences", "Results", "Source")],
        [
            [each.name, able.fairness, able.ceilings, able.budgets, able.fences, able.results, able.source]
            for each in (FAIRLANE, *PEERS)
            for able in (each.abilities,)
        ],
    )


def _settings(peers: Sequence[PeerFigures]) -> list[str]:
    return table(
        [("Queue", "left"), ("Packages", "left"), ("Settings", "left")],
        [[escape(each.name), escape(", ".join(each.versions)) or "this clone", each.settings] for each in peers],
    )


def _machine(results: PeerResults) -> list[str]:
    facts = results.environment
    rows = {
        "Started": results.started_at,
        "Duration": number(results.duration_s, 0, " s"),
        "Rounds": str(results.rounds),
        "Machine": f"{results.machine}, {facts.cpus} CPUs",
        "Server": f"{facts.server.name} {facts.server.version}",
        "Fairlane": f"{facts.fairlane} (git {facts.git}), {facts.core.profile} build",
        "Ray": facts.ray,
        **results.tools,
    }
    return table([("", "left"), ("", "left")], [[escape(name), escape(value)] for name, value in rows.items()])
