"""Tasks and statuses: what a task holds, and the allowed transitions."""

from collections.abc import Mapping
from enum import StrEnum

import pytest
from hypothesis import given, strategies as st

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.task import Task, TaskMetadata
from fairlane.workers.members.status import TASK_MOVES, WORKER_MOVES, TaskStatus, WorkerStatus, transition
from tests.support.worker_errors import fails
from tests.support.worker_work import Tripler, double, task


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
