"""What is declared is recorded, and nothing else, with the SDK listening."""

import asyncio
import contextlib

import pytest
from opentelemetry import trace

from fairlane.clock import system_rng
from fairlane.errors import FairlaneError
from fairlane.telemetry import Telemetry
from fairlane.telemetry.names import (
    ASSIGN,
    ATTEMPT_DURATION,
    ATTEMPTS,
    EXECUTE,
    INSTRUMENTS,
    SPANS,
    TASKS,
    Instrument,
)
from fairlane.workers import (
    WORKER_ERROR_CODES,
    CheckOutcome,
    HealthConfig,
    Manager,
    ManagerConfig,
    SupervisorConfig,
    WorkerError,
    WorkerGroup,
    WorkerStatus,
    strategy_names,
)
from tests.support.virtual_time import VirtualClock, virtual_time
from tests.support.worker_telemetry import Recording
from tests.support.worker_work import double, raise_it_async
from tests.support.worker_workers import ScriptedWorker

OUTCOMES = {"completed", *WORKER_ERROR_CODES}
BOUNDED = {
    "strategy": set(strategy_names()),
    "kind": {"scripted"},
    "status": set(WorkerStatus),
    "code": set(WORKER_ERROR_CODES),
    "outcome": OUTCOMES | set(CheckOutcome) | {"restarted", "failed", "given_up"},
}
CONFIG = ManagerConfig(
    retries=1,
    health=HealthConfig(interval_ms=1_000, failure_threshold=2),
    supervisor=SupervisorConfig(max_restarts=1, window_ms=600_000, backoff_base_ms=10),
)


async def eventful(recording: Recording) -> None:
    """Have two workers of a manager go through everything that is recorded."""
    clock = VirtualClock()
    workers = [ScriptedWorker(name, telemetry=recording.telemetry, clock=clock) for name in ("a", "b")]
    manager = Manager(
        WorkerGroup(workers),
        CONFIG,
        retry_on=(KeyError,),
        clock=clock,
        rng=system_rng(1),
        telemetry=recording.telemetry,
    )
    async with manager:
        assert await manager.assign(double, 21) == 42
        for error in (KeyError("tried again"), ValueError("not tried again")):
            with pytest.raises(WorkerError):
                await manager.assign(raise_it_async, error)
        waiting = [asyncio.create_task(manager.assign(asyncio.sleep, 1.0)) for _ in range(3)]
        await asyncio.gather(*waiting)
        workers[0].healthy = False  # it fails twice, and is given up
        await asyncio.sleep(60)
        assert workers[0].status is WorkerStatus.FAILED


@virtual_time
async def test_every_instrument_and_span_is_recorded_with_few_values_for_the_declared_attributes() -> None:
    recording = Recording()
    await eventful(recording)
    assert [each.name for each in INSTRUMENTS if not recording.values(each)] == []
    assert {name for name, *_ in recording.spans()} == {each.name for each in SPANS}
    declared = {each.name: set(each.attributes) for each in SPANS}
    for name, attributes, *_ in recording.spans():
        assert set(attributes) == declared[name]
    for instrument in INSTRUMENTS:
        for values in recording.values(instrument):
            for attribute, value in zip(instrument.attributes, values, strict=True):
                assert value in BOUNDED[attribute], f"{instrument.name}: {attribute} = {value}"


@virtual_time
async def test_each_attempt_is_counted_once_and_lies_within_its_task() -> None:
    recording = Recording()
    await eventful(recording)
    tasks = [described for name, _, described, _ in recording.spans() if name == ASSIGN.name]
    attempts = [(described, child) for name, _, described, child in recording.spans() if name == EXECUTE.name]
    assert tasks[:3] == [None, "retries_exhausted", "task_failed"]
    assert attempts[:4] == [(None, True), ("task_failed", True), ("task_failed", True), ("task_failed", True)]
    assert recording.values(ATTEMPTS) == recording.values(ATTEMPT_DURATION)
    assert recording.values(ATTEMPTS) == {("scripted", "completed"): 4, ("scripted", "task_failed"): 3}
    assert {outcome: count for (_, outcome), count in recording.values(TASKS).items()} == {
        "completed": 4,
        "retries_exhausted": 1,
        "task_failed": 1,
    }


class Coded(Exception):
    """Of somebody else, who also has codes."""

    code = 404


@pytest.mark.parametrize(
    ("error", "described"),
    [(FairlaneError("secret"), "fairlane_error"), (Coded("secret"), "Coded"), (asyncio.CancelledError(), None)],
)
def test_a_span_names_an_error_and_never_its_text(error: BaseException, described: str | None) -> None:
    recording = Recording()
    with contextlib.suppress(BaseException), recording.telemetry.span(EXECUTE, "t", "w", "local"):
        raise error
    ((_, attributes, status, _),) = recording.spans()
    assert status == (described or "CancelledError")
    assert attributes == {"task.id": "t", "worker.id": "w", "kind": "local"}


@pytest.mark.parametrize("values", [(), ("local",), ("local", "completed", "more")])
def test_attributes_without_values_and_values_without_attributes_are_refused(values: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="zip"):
        Telemetry().add(ATTEMPTS, 1, *values)
    with pytest.raises(ValueError, match="zip"):
        Telemetry().observe(ATTEMPT_DURATION, 1.0, *values)


def test_without_an_sdk_nothing_is_recorded_and_nothing_fails() -> None:
    telemetry = Telemetry()
    telemetry.add(ATTEMPTS, 1, "local", "completed")
    telemetry.observe(ATTEMPT_DURATION, 1.0, "local", "completed")
    with telemetry.span(EXECUTE, "t", "w", "local"):
        assert not trace.get_current_span().is_recording()


def test_an_instrument_that_is_not_declared_is_refused() -> None:
    undeclared = Instrument("fairlane.other", ATTEMPTS.kind, "1", "nothing")
    with pytest.raises(KeyError):
        Telemetry().add(undeclared, 1)
