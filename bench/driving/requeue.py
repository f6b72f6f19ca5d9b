"""Drives the scenario of a throttled task: the burst, and a slow worker that asks during the pause."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bench.driving.burst import WAIT_S, BurstSession, burst_session, leftovers
from bench.driving.hands import Hands
from bench.driving.load import spec_of
from bench.evidence import Evidence
from bench.measures.requeue import requeue
from bench.platform import Platform, Progress
from bench.results import Metrics
from bench.scenario_controls import RequeueScenario
from fairlane.domain.attempt import AttemptState
from fairlane.domain.task import TaskRef
from fairlane.lifecycle.handle import TaskHandle
from fairlane.lifecycle.submission import TaskSpec
from fairlane.store.messages import Ledger, StartedTask

_TENANT = "burst"
_LOOK_S = 0.005
_ASK_S = 0.02
_WORKS_S = 0.05
"""How long the slow worker takes for a task."""


async def drive(scenario: RequeueScenario, platform: Platform, *, progress: Progress) -> Metrics:
    """Run the burst and return the metrics.

    Raises:
        ScenarioError: a submit was refused, or the event stream has a gap.
        TimeoutError: the task met no throttle.
        FairlaneError: the scheduler itself failed.
    """
    async with burst_session(scenario.name, scenario.burst, platform, progress) as bursts:
        store = bursts.session.store
        hands = Hands(store, "slow")
        await hands.register(1)
        handles = await bursts.submit_paused(_TENANT, _specs(scenario), None)
        ref = handles[scenario.throttled].ref
        progress("until the throttle")
        await store.resume()
        await bursts.watch.until(lambda evidence: _was_throttled(evidence, ref), WAIT_S)
        progress("the pause")
        given, hold_ms = await hands.take()
        (view,) = await store.get([ref])
        in_pause, at_event = await _ledger(bursts)
        held_back = 0
        while not given and hold_ms is not None:
            held_back += 1
            await asyncio.sleep(_ASK_S)
            given, hold_ms = await hands.take()
        progress("after the pause")
        working = asyncio.create_task(_work(hands, given, handles))
        try:
            ran = await bursts.finish(_TENANT, handles)
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        await hands.leave()
        end = await leftovers(bursts)
    found = requeue(
        bursts.evidence,
        ref,
        asked_ms=scenario.pause_ms,
        view=view,
        in_pause=in_pause,
        at_event=at_event,
        held_back=held_back,
        calls_seen=_numbers(ran.outcomes[scenario.throttled]),
        ledger=ran.ledger,
    )
    return end.model_copy(update={"requeue": found})


def _specs(scenario: RequeueScenario) -> list[TaskSpec]:
    """Return the burst's tasks; the payload of one tells the provider to throttle its first call."""
    specs = [spec_of(arrival) for arrival in scenario.burst.arrivals(_TENANT)]
    one = scenario.burst.arrivals(_TENANT)[scenario.throttled]
    payload = {"ms": one.takes_ms, "units": one.cost, "throttle_ms": scenario.pause_ms}
    specs[scenario.throttled] = replace(specs[scenario.throttled], payload=payload)
    return specs


async def _ledger(bursts: BurstSession) -> tuple[Ledger, int]:
    """Read the ledger at a moment in which nothing happens; also return the number of the last event before it."""
    store = bursts.session.store
    number = (await store.snapshot()).pool.events
    while True:
        ledger = await bursts.ledger(_TENANT)
        before, number = number, (await store.snapshot()).pool.events
        if number == before:
            return ledger, number


def _was_throttled(evidence: Evidence, ref: TaskRef) -> bool:
    task = evidence.tasks.get(ref)
    return task is not None and any(each.state is AttemptState.THROTTLED for each in task.attempts)


async def _work(hands: Hands, tasks: tuple[StartedTask, ...], handles: Sequence[TaskHandle]) -> None:
    """Complete what the slow worker was given, and whatever else it gets, until all tasks have ended."""
    while not all(handle.ended for handle in handles):
        if tasks:
            await asyncio.sleep(_WORKS_S)
            await hands.complete(tasks)
        await asyncio.sleep(_LOOK_S)
        tasks, _ = await hands.take()


def _numbers(outcome: object) -> list[int]:
    """Return the number that the completing call's attempt had for the provider."""
    match outcome:
        case {"attempt": int(number)}:
            return [number]
        case _:
            return []
