"""A turn of Fairlane alone, with real processes of its own."""

import pytest

from bench.peers.environments import prepare
from bench.peers.roster import FAIRLANE
from bench.peers.turn import Size, take_turn

SMALL = Size(tasks=300, trips=5, waiting=2_000)


@pytest.mark.ray
async def test_a_turn_measures_everything_and_every_task_runs_once(tmp_path):
    with open(tmp_path / "log", "wb") as log:
        turn = await take_turn(prepare(FAIRLANE, tmp_path), SMALL, (10_000, 3), log, lambda _: None)
    assert [*turn.loads] == [10_000, 3]
    for load in turn.loads.values():
        assert load.tasks == 300
        assert min(load.seconds, load.server_cpu_s, load.crew_cpu_s) > 0
        assert load.calls > load.tasks
    assert len(turn.trips_ms) == 5
    assert 50 < turn.bytes_per_task < 5_000
    assert turn.tasks >= 10 + 2_000 + 500 + 5 + 2 * 300
