"""Turns, figures and whole results of a comparison that nobody ran."""

from bench.peers.figures import figures
from bench.peers.goals import delivery, goals
from bench.peers.results import Failure, PeerFigures, PeerResults, Skipped
from bench.peers.roster import FAIRLANE, PEERS, Peer
from bench.peers.turn import Load, Turn
from tests.bench.worlds import results

BULLMQ = next(each for each in PEERS if each.key == "bullmq")


def turn(speeds: dict[int, float], trips_ms: list[float] | None = None, bytes_per_task: float = 500.0) -> Turn:
    """A turn with loads of 1,000 tasks at these speeds, by tenants."""
    loads = {tenants: Load(1_000, 1_000 / speed, 0.1, 0.2, 12_000) for tenants, speed in speeds.items()}
    return Turn(loads=loads, trips_ms=trips_ms or [1.0, 2.0, 3.0], bytes_per_task=bytes_per_task, tasks=1_500)


def measured(peer: Peer, *turns: Turn, beside: list[Turn] | None = None) -> PeerFigures:
    return figures(peer, dict(enumerate(turns)), dict(enumerate(beside or [])))


def compared(
    peers: list[PeerFigures], failed: list[Failure] | None = None, skipped: list[Skipped] | None = None
) -> PeerResults:
    by_name = {each.name: each for each in peers}
    return PeerResults(
        started_at="2030-01-02T03:04:05+00:00",
        duration_s=12.5,
        rounds=2,
        machine="a machine",
        environment=results().environment,
        tools={"Node": "v20"},
        peers=peers,
        failed=failed or [],
        skipped=skipped or [],
        delivery=delivery(peers, failed or []),
        goals=goals(by_name.get(FAIRLANE.name), by_name.get(BULLMQ.name)),
    )
