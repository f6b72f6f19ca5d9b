"""What must hold (exact delivery), and what is aimed at (Fairlane's speed against the reference's)."""

from collections.abc import Sequence
from typing import Final

from bench.peers.results import Failure, PeerFigures
from bench.shared.checks import verdict
from bench.shared.metrics import Check

SPEED: Final = 3.0
"""The least ratio of Fairlane's speed to the reference's that is aimed at, for any number of tenants."""
_EXACT: Final = "every task ran once, and its client saw its right result"


def delivery(ended: Sequence[PeerFigures], failed: Sequence[Failure]) -> list[Check]:
    """Judge each queue's delivery."""
    checks = [verdict(f"{each.name} delivers exactly", True, f"{each.tasks:,} tasks", _EXACT) for each in ended]
    return checks + [verdict(f"{each.name} delivers exactly", False, each.reason, _EXACT) for each in failed]


def goals(fairlane: PeerFigures | None, reference: PeerFigures | None) -> list[Check]:
    """Compare Fairlane with the reference; nothing is aimed at without it.

    If the reference was measured and Fairlane was not, every goal is missed.
    """
    if reference is None:
        return []
    if fairlane is None:
        return [verdict(f"Fairlane against {reference.name}", False, None, "to be measured")]
    name = reference.name
    checks = [
        verdict(
            f"speed at {load.tenants:,} tenants against {name}",
            load.ratio is not None and load.ratio >= SPEED,
            load.ratio,
            f"≥ {SPEED:g} ×",
            digits=2,
        )
        for load in fairlane.loads
    ]
    for label, mine, theirs in (
        ("p50", fairlane.trips.p50, reference.trips.p50),
        ("p99", fairlane.trips.p99, reference.trips.p99),
    ):
        expected = f"≤ {theirs:.2f} ms, that of {name}"
        checks.append(verdict(f"round trip at light load, {label}", mine <= theirs, mine, expected, digits=2))
    return checks
