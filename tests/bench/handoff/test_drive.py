"""Dispatchers that are killed, driven against a real server with every role on this loop."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

from bench.handoff import naive
from bench.handoff.checks import killed_at_work
from bench.handoff.drive import TENANT, drive
from bench.handoff.scenario import RACE_HANDOFF
from tests.bench.in_process import InProcessPlatform
from tests.bench.worlds import failed, keys, on

KILLS = 3


class AnswersAfterTheKill(InProcessPlatform):
    """Answers the submits of a hand-over scenario only when the dispatcher has been killed."""

    @asynccontextmanager
    async def scheduler(self, config, provider):
        async with super().scheduler(config, provider) as session:
            submit_many, kill_actor = session.submit_many, session.kill_actor
            killed = asyncio.Event()

            async def answer_late(specs):
                answers = await submit_many(specs)
                if specs[0].tenant == TENANT:
                    await killed.wait()
                return answers

            async def kill(actor, pid):
                await kill_actor(actor, pid)
                killed.set()

            session.submit_many, session.kill_actor = answer_late, kill
            yield session


async def test_the_naive_dispatcher_leaves_an_orphan(endpoint, name):
    outcome = await naive.race(endpoint.url, name, cost=100)
    assert outcome == naive.NaiveHandoff(("task-1",), 1, 100, 0, "no slot is free", killed_by=9)


def killing(kills=KILLS, **changes):
    fewer = killed_at_work(kills)
    checks = tuple(fewer if each.name == fewer.name else each for each in RACE_HANDOFF.checks)
    return replace(RACE_HANDOFF, kills=kills, checks=checks, **changes)


async def test_a_dispatcher_that_ends_at_any_await_loses_nothing(platform, endpoint):
    before = await keys(endpoint)
    scenario = killing()
    metrics = await drive(scenario, on(platform))
    assert failed(scenario, metrics) == []
    assert await keys(endpoint) == before


async def test_tasks_whose_submit_is_answered_after_the_kill_are_waited_for(endpoint):
    before = await keys(endpoint)
    scenario = killing(1, schedulers=1, longest_delay_ms=0, takes_ms=20)
    metrics = await drive(scenario, on(AnswersAfterTheKill(endpoint)))
    assert failed(scenario, metrics) == []
    assert metrics.handoff.tasks == scenario.backlog
    assert await keys(endpoint) == before
