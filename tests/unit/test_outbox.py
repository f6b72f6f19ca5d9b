"""The outbox sends items that come together in one call."""

import asyncio

import pytest

from fairlane.lifecycle.outbox import Outbox


class Line:
    """Answers each item with its double, when the test lets it."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.open_to = asyncio.Event()
        self.open_to.set()
        self.most_at_once = 0
        self._at_once = 0

    async def send(self, items: list[int]) -> list[int]:
        self.batches.append(items)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await self.open_to.wait()
        self._at_once -= 1
        if -1 in items:
            raise ValueError("no")
        return [2 * item for item in items]


async def test_items_of_one_turn_go_in_one_call() -> None:
    line = Line()
    outbox = Outbox("test", line.send, batch=100)
    answers = await asyncio.gather(*(outbox.put([n]) for n in range(50)))
    assert answers == [[2 * n] for n in range(50)]
    assert line.batches == [list(range(50))]


async def test_batches_stay_within_the_limit_and_groups_stay_whole() -> None:
    line = Line()
    outbox = Outbox("test", line.send, batch=4)
    answers = await asyncio.gather(*(outbox.put([n, n, n]) for n in range(5)), outbox.put([7]))
    assert answers == [*([2 * n] * 3 for n in range(5)), [14]]
    assert all(len(batch) <= 4 for batch in line.batches)
    assert line.batches[-1] == [4, 4, 4, 7]


@pytest.mark.parametrize("lanes", [1, 2])
async def test_while_calls_are_under_way_the_next_batch_grows(lanes: int) -> None:
    line = Line()
    line.open_to.clear()
    outbox = Outbox("test", line.send, batch=100, lanes=lanes)
    puts = []
    for n in range(10):
        puts.append(outbox.put([n]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    line.open_to.set()
    await asyncio.gather(*puts)
    assert line.most_at_once == lanes
    assert [len(batch) for batch in line.batches] == [*[1] * lanes, 10 - lanes]


async def test_a_put_right_after_an_answer_is_sent() -> None:
    outbox = Outbox("test", Line().send, batch=4)
    async with asyncio.timeout(5):
        for n in range(100):
            assert await outbox.put([n]) == [2 * n]


async def test_a_failure_reaches_every_caller_of_its_batch_and_no_other() -> None:
    line = Line()
    outbox = Outbox("test", line.send, batch=2)
    puts = [outbox.put([n]) for n in (1, -1, 2, 3)]
    outcomes = await asyncio.gather(*puts, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes[:2]] == [ValueError, ValueError]
    assert outcomes[2:] == [[4], [6]]


async def test_a_caller_that_leaves_early_is_not_sent_and_one_that_leaves_late_stops_nothing() -> None:
    line = Line()
    line.open_to.clear()
    outbox = Outbox("test", line.send, batch=10)
    sent_leaver, sent_stayer = outbox.put([1]), outbox.put([2])
    await asyncio.sleep(0)
    queued_leaver, queued_stayer = outbox.put([3]), outbox.put([4])
    sent_leaver.cancel()
    queued_leaver.cancel()
    line.open_to.set()
    assert await sent_stayer == [4]
    assert await queued_stayer == [8]
    assert line.batches == [[1, 2], [4]]


async def test_drain_waits_for_everything() -> None:
    line = Line()
    outbox = Outbox("test", line.send, batch=1)
    puts = [outbox.put([n]) for n in range(5)]
    await outbox.drain()
    assert all(put.done() for put in puts)
    await asyncio.gather(*puts)
