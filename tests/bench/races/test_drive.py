"""The race of controllers, against a real server."""

from bench.races import naive
from bench.races.checks import ONE_RECOVERS
from bench.races.drive import drive
from bench.races.metrics import RaceSide
from bench.races.scenario import RACE_CONTROLLER
from tests.bench.races.figures import metrics
from tests.bench.worlds import failed, keys, on


async def test_the_naive_controllers_both_recover(endpoint, name):
    outcome = await naive.race(endpoint.url, name, capacity=2, contenders=2)
    assert outcome == naive.NaiveOutcome(read=(2, 2), after=4)


async def test_the_race_is_reproduced_and_repaired(platform, endpoint):
    before = await keys(endpoint)
    assert failed(RACE_CONTROLLER, await drive(RACE_CONTROLLER, on(platform))) == []
    assert await keys(endpoint) == before


def test_answers_of_controllers_read_as_text():
    side = RaceSide(contenders=8, before=2, after=3, answers={"recovered": 1, "cooldown": 7})
    check = ONE_RECOVERS.judge(RACE_CONTROLLER, metrics(None, side))
    assert check.observed == {"8 controllers": "2 → 3; 1 × recovered, 7 × cooldown"}
