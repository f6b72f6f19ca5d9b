"""Drives the scenario of a throttled task: the burst, and a slow worker that asks during the pause."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bench.requeue.measures import requeue
from bench.requeue.metrics import RequeueMetrics
from bench.requeue.scenario import RequeueScenario
from bench.shared.burst import WAIT_S, BurstSession, burst_session
from bench.shared.evidence import Evidence
from bench.shared.kind import Run
from bench.shared.manual_worker import ManualWorker
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


async def drive(scenario: RequeueScenario, run: Run) -> RequeueMetrics:
    """Run the burst and return the metrics.

    Raises:
        ScenarioError: a submit was refused, or the event stream has a gap.
        TimeoutError: the task met no throttle.
        FairlaneError: the scheduler itself failed.
    """
    progress = run.progress
    async with burst_session(scenario.name, scenario.burst, run.platform, progress) as bursts:
        store = bursts.session.store
        slow = ManualWorker(store, "slow")
        await slow.register(1)
        handles = await bursts.submit_paused(_TENANT, _specs(scenario), None)
        ref = handles[scenario.throttled].ref
        progress("until the throttle")
        await store.resume()
        await bursts.watch.until(lambda evidence: _was_throttled(evidence, ref), WAIT_S)
        progress("the pause")
        given, hold_ms = await slow.take()
        (view,) = await store.get([ref])
        in_pause, at_event = await _ledger(bursts)
        held_back = 0
        while not given and hold_ms is not None:
            held_back += 1
            await asyncio.sleep(_ASK_S)
            given, hold_ms = await slow.take()
        progress("after the pause")
        working = asyncio.create_task(_serve(slow, given, handles))
        try:
            ran = await bursts.finish(_TENANT, handles)
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        await slow.leave()
        end = await bursts.leftovers()
    found = requeue(
        bursts.evidence,
        ref,
        asked_ms=scenario.pause_ms,
        view=view,
        in_pause=in_pause,
        at_event=at_event,
        held_back=held_back,
        calls_seen=_attempts_seen(ran.outcomes[scenario.throttled]),
        ledger=ran.ledger,
    )
    return RequeueMetrics(**dict(end), requeue=found)


def _specs(scenario: RequeueScenario) -> list[TaskSpec]:
    """Return the burst's tasks; the payload of one tells the provider to throttle its first call."""
    specs = [arrival.spec() for arrival in scenario.burst.arrivals(_TENANT)]
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


async def _serve(worker: ManualWorker, tasks: tuple[StartedTask, ...], handles: Sequence[TaskHandle]) -> None:
    """Complete the tasks the slow worker has, and all it gets after them, until every task has ended."""
    while not all(handle.ended for handle in handles):
        if tasks:
            await asyncio.sleep(_WORKS_S)
            await worker.complete(tasks)
        await asyncio.sleep(_LOOK_S)
        tasks, _ = await worker.take()


def _attempts_seen(outcome: object) -> list[int]:
    """Return the number that the completing call's attempt had for the provider."""
    match outcome:
        case {"attempt": int(number)}:
            return [number]
        case _:
            return []
