"""From the turns of all rounds to figures: medians, pooled percentiles, and ratios within a round."""

from collections.abc import Mapping, Sequence
from statistics import median

from bench.peers.results import LoadFigures, PeerFigures, Trips
from bench.peers.roster import Peer
from bench.peers.turn import Load, Turn
from fairlane import _core


def figures(peer: Peer, turns: Mapping[int, Turn], reference: Mapping[int, Turn]) -> PeerFigures:
    """Sum up a queue's turns, by round, beside those of the reference, which may have none.

    Raises:
        ValueError: there is no turn.
    """
    if not turns:
        raise ValueError(f"{peer.name} has no turn")
    first = next(iter(turns.values()))
    return PeerFigures(
        name=peer.name,
        versions=list(peer.packages),
        settings=peer.settings,
        loads=[_load(count, turns, reference) for count in sorted(first.loads)],
        trips=_trips([sample for turn in turns.values() for sample in turn.trips_ms]),
        bytes_per_task=median(turn.bytes_per_task for turn in turns.values()),
        tasks=sum(turn.tasks for turn in turns.values()),
    )


def _load(tenants: int, turns: Mapping[int, Turn], reference: Mapping[int, Turn]) -> LoadFigures:
    loads = {number: turn.loads[tenants] for number, turn in turns.items()}
    speeds = {number: _speed(load) for number, load in loads.items()}
    ratios = [
        speeds[number] / _speed(next(iter(turn.loads.values())))
        for number, turn in reference.items()
        if number in speeds
    ]
    return LoadFigures(
        tenants=tenants,
        tasks=next(iter(loads.values())).tasks,
        tasks_per_s=median(speeds.values()),
        fastest_tasks_per_s=max(speeds.values()),
        rounds_per_s=[round(each, 1) for each in speeds.values()],
        ratio=median(ratios) if ratios else None,
        server_cpu_us=median(1e6 * each.server_cpu_s / each.tasks for each in loads.values()),
        crew_cpu_us=median(1e6 * each.crew_cpu_s / each.tasks for each in loads.values()),
        calls=median(each.calls / each.tasks for each in loads.values()),
    )


def _speed(load: Load) -> float:
    return load.tasks / load.seconds


def _trips(samples: Sequence[float]) -> Trips:
    p50, p99, p999 = _core.percentiles(list(samples), [50.0, 99.0, 99.9]) or (0.0, 0.0, 0.0)
    return Trips(p50=p50, p99=p99, p999=p999, count=len(samples))
