"""A driver numbers tasks, deals them to tenants and accepts only right results."""

from contextlib import AsyncExitStack

import pytest

from bench.peers.adapters.driving import Driver
from bench.peers.adapters.work import Call, right


class Queue:
    """A queue in memory. ``change`` may spoil its results."""

    def __init__(self) -> None:
        self.submitted: list[Call] = []
        self.change = lambda results: results

    async def open(self, stack: AsyncExitStack) -> None:
        pass

    async def submit(self, calls):
        self.submitted += calls
        return list(calls)

    async def results(self, handles):
        return self.change([right(call) for call in handles])


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def driver(queue) -> Driver:
    return Driver(queue)


async def test_tasks_are_numbered_through_and_dealt_to_the_tenants(driver, queue):
    await driver.obey({"do": "load", "tasks": 2, "tenants": 2})
    await driver.obey({"do": "load", "tasks": 3, "tenants": 3})
    assert [call["n"] for call in queue.submitted] == [0, 1, 2, 3, 4]
    assert [call["tenant"] for call in queue.submitted] == [
        "of-2-00000",
        "of-2-00001",
        "of-3-00002",
        "of-3-00000",
        "of-3-00001",
    ]


async def test_a_load_answers_its_time(driver):
    answer = await driver.obey({"do": "load", "tasks": 5, "tenants": 3})
    assert answer.keys() == {"seconds"}
    assert answer["seconds"] > 0


async def test_what_was_submitted_is_checked_when_it_is_collected(driver, queue):
    assert await driver.obey({"do": "submit", "tasks": 5, "tenants": 3}) == {}
    queue.change = lambda results: [{"answer": 0}, *results[1:]]
    with pytest.raises(ValueError, match="task 0 has the result"):
        await driver.obey({"do": "collect"})


async def test_collected_tasks_are_not_collected_again(driver, queue):
    await driver.obey({"do": "submit", "tasks": 5, "tenants": 3})
    assert await driver.obey({"do": "collect"}) == {}
    queue.change = lambda results: pytest.fail("nothing waits")
    assert await driver.obey({"do": "collect"}) == {}


async def test_trips_go_one_by_one_and_stop_at_the_limit(driver, queue):
    assert len((await driver.obey({"do": "trips", "count": 4, "limit_s": 60.0}))["ms"]) == 4
    assert len((await driver.obey({"do": "trips", "count": 4, "limit_s": 0.0}))["ms"]) == 1
    assert [call["n"] for call in queue.submitted] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda results: results[::-1],
        lambda results: results[:-1],
        lambda results: [*results, results[0]],
        lambda results: [*results[:-1], None],
    ],
    ids=["swapped", "missing", "one too many", "none"],
)
async def test_wrong_results_are_refused(driver, queue, spoil):
    queue.change = spoil
    with pytest.raises(ValueError, match=r"has the result|results of 3 tasks"):
        await driver.obey({"do": "load", "tasks": 3, "tenants": 3})


async def test_an_unknown_order_is_refused(driver):
    with pytest.raises(ValueError, match="no such order"):
        await driver.obey({"do": "dance"})
