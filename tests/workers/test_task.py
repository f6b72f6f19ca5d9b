"""Tasks, statuses, errors and metrics: the values that the worker layer hands out."""

import pickle
from collections.abc import Mapping
from enum import StrEnum

import pytest
from hypothesis import given, strategies as st

from fairlane.errors import FairlaneError
from fairlane.workers import (
    TASK_MOVES,
    WORKER_MOVES,
    Task,
    TaskMetadata,
    TaskStatus,
    WorkerError,
    WorkerErrorCode,
    WorkerMetrics,
    WorkerStatus,
)
from fairlane.workers.errors import shown
from fairlane.workers.executor.deadline import deadline
from fairlane.workers.members.metrics import SMOOTHING, MetricsAccumulator
from fairlane.workers.members.status import transition
from tests.support.virtual_time import virtual_time
from tests.support.worker_errors import fails
from tests.support.worker_work import Tripler, Unspeakable, double, task


def test_a_new_task_is_pending_and_knows_when_it_was_made() -> None:
    new = Task(double, task_id="t", created_s=12.5)
    assert (new.id, new.work, new.status) == ("t", double, TaskStatus.PENDING)
    assert new.metadata == TaskMetadata(created_s=12.5)
    assert new.metadata.attempts == 0


def test_its_body_is_its_work_unless_a_subclass_executes_otherwise() -> None:
    assert task(double).body is double
    own = Tripler(double, task_id="t", created_s=0)
    assert own.body == own.execute


def test_each_attempt_is_kept_with_its_worker() -> None:
    begun = task(double)
    begun.begin("a")
    assert begun.status is TaskStatus.RUNNING
    with pytest.raises(WorkerError, match="task t is running and cannot become running"):
        begun.begin("b")
    begun.move(TaskStatus.PENDING)
    begun.begin("b")
    begun.move(TaskStatus.COMPLETED)
    assert (begun.metadata.workers, begun.metadata.attempts) == (("a", "b"), 2)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"task_id": ""}, "task_id = '': must not be empty"),
        ({"task_id": 7}, "task_id = 7: must be a string"),
        ({"task_id": "a b"}, "task_id = 'a b': must start with"),
        ({"created_s": -1.0}, "created_s = -1.0: must be at least 0"),
        ({"created_s": float("nan")}, "created_s = nan: must be a finite number"),
        ({"work": None}, "work = None: must be callable"),
    ],
)
def test_bad_arguments_are_named(changed: dict[str, object], says: str) -> None:
    arguments: dict[str, object] = {"work": double, "task_id": "t", "created_s": 0.0} | changed
    with pytest.raises(WorkerError) as error:
        Task(arguments.pop("work"), **arguments)  # type: ignore[arg-type]
    assert says in str(error.value)
    assert error.value.code is WorkerErrorCode.INVALID_CONFIGURATION


MACHINES = [(WorkerStatus, WORKER_MOVES), (TaskStatus, TASK_MOVES)]


@pytest.mark.parametrize(("statuses", "moves"), MACHINES)
def test_every_status_has_its_moves(statuses: type[StrEnum], moves: Mapping[StrEnum, frozenset[StrEnum]]) -> None:
    assert set(moves) == set(statuses)
    for now, following in moves.items():
        assert now not in following


def reachable(moves: Mapping[StrEnum, frozenset[StrEnum]], start: StrEnum) -> set[StrEnum]:
    found, edge = {start}, {start}
    while edge:
        edge = set().union(*(moves[each] for each in edge)) - found
        found |= edge
    return found


def test_every_worker_can_be_stopped_and_started_again() -> None:
    for status in WorkerStatus:
        assert WorkerStatus.STOPPED in reachable(WORKER_MOVES, status)
        assert WorkerStatus.READY in reachable(WORKER_MOVES, status)
    assert reachable(WORKER_MOVES, WorkerStatus.CREATED) == set(WorkerStatus)


def test_every_task_can_end_and_what_has_ended_stays_so() -> None:
    assert reachable(TASK_MOVES, TaskStatus.PENDING) == set(TaskStatus)
    ends = {status for status, following in TASK_MOVES.items() if not following}
    assert ends == {TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED}
    for status in TaskStatus:
        assert ends & reachable(TASK_MOVES, status)


@given(st.lists(st.sampled_from(WorkerStatus)))
def test_only_legal_moves_change_a_workers_status(wishes: list[WorkerStatus]) -> None:
    now = WorkerStatus.CREATED
    for wish in wishes:
        if wish in WORKER_MOVES[now]:
            now = transition("worker w", WORKER_MOVES, now, wish)
            assert now is wish
        else:
            with fails(
                WorkerErrorCode.ILLEGAL_TRANSITION, f"worker w is {now} and cannot become {wish}: only"
            ) as error:
                transition("worker w", WORKER_MOVES, now, wish)
            assert (error.value.context["now"], error.value.context["to"]) == (now, wish)


def test_where_nothing_may_follow_the_error_says_so() -> None:
    with pytest.raises(WorkerError, match="task t is completed and cannot become running: only nothing may follow"):
        transition("task t", TASK_MOVES, TaskStatus.COMPLETED, TaskStatus.RUNNING)


RETRYABLE = {"worker_not_ready", "worker_at_capacity", "worker_lost"}


@pytest.mark.parametrize("code", WorkerErrorCode)
def test_it_is_an_error_of_fairlane_with_code_context_and_cause(code: WorkerErrorCode) -> None:
    cause = ValueError("inner")
    with pytest.raises(FairlaneError, match="what happened") as raised:
        raise WorkerError(code, "what happened", worker="w", attempts=3) from cause
    error = raised.value
    assert isinstance(error, WorkerError)
    assert (error.code, error.message) == (code, "what happened")
    assert error.context == {"worker": "w", "attempts": 3}
    assert error.cause is cause
    assert error.retryable is (code in RETRYABLE)


def test_it_pickles_without_its_cause() -> None:
    error = WorkerError(WorkerErrorCode.WORKER_LOST, "gone", worker="w")
    error.__cause__ = ValueError("inner")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.code, str(copy), copy.context) == (WorkerError, error.code, "gone", {"worker": "w"})
    assert copy.cause is None
    assert copy.retryable


class NoText(Exception):
    """One whose text is none."""

    def __str__(self) -> str:
        return None  # type: ignore[return-value]  # noqa: PLE0307


def test_any_error_can_be_shown() -> None:
    assert shown(ValueError("bad")) == "bad"
    assert shown(ValueError("bad"), repr) == "ValueError('bad')"
    assert shown(ValueError()) == "ValueError"
    assert shown(NoText()) == "NoText"
    assert (shown(Unspeakable()), shown(Unspeakable(), repr)) == ("Unspeakable", "Unspeakable")


def test_averages_move_towards_what_is_new() -> None:
    figures = MetricsAccumulator(smoothing=0.5)
    figures.record(4.0, succeeded=True)
    assert figures.read() == WorkerMetrics(1, 0, 4.0, 0.0)
    figures.record(2.0, succeeded=False)
    assert figures.read() == WorkerMetrics(1, 1, 3.0, 0.5)
    figures.record(3.0, succeeded=False)
    assert figures.read() == WorkerMetrics(1, 2, 3.0, 0.75)


def test_one_failure_says_little() -> None:
    figures = MetricsAccumulator()
    figures.record(1.0, succeeded=False)
    assert figures.read() == WorkerMetrics(0, 1, 1.0, SMOOTHING)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.booleans()), min_size=1))
def test_averages_stay_within_what_was_seen(attempts: list[tuple[float, bool]]) -> None:
    figures = MetricsAccumulator()
    for latency_s, well in attempts:
        figures.record(latency_s, succeeded=well)
    read = figures.read()
    latencies = [latency_s for latency_s, _ in attempts]
    assert read.latency_s is not None
    assert min(latencies) * 0.999999 <= read.latency_s <= max(latencies) * 1.000001
    assert read.error_rate is not None
    assert 0 <= read.error_rate <= 1
    assert read.successes + read.failures == len(attempts)


@virtual_time
async def test_a_timeout_inside_the_block_is_not_the_deadlines() -> None:
    with pytest.raises(TimeoutError, match="somebody else's"):
        async with deadline(task(double), 2, "was not done within"):
            raise TimeoutError("somebody else's")
