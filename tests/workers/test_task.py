"""Tasks: what they are made of, and what may happen to them."""

import pytest
from hypothesis import given, strategies as st

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.executor.task import Task, TaskMetadata
from fairlane.workers.members.status import TASK_MOVES, TaskStatus
from tests.support.worker_work import Tripler, double, task


def test_a_new_task_is_pending_and_knows_when_it_was_made() -> None:
    new = Task(double, task_id="t", created_s=12.5)
    assert (new.id, new.work, new.status) == ("t", double, TaskStatus.PENDING)
    assert new.metadata == TaskMetadata(created_s=12.5)
    assert new.metadata.attempts == 0


async def test_it_executes_its_work() -> None:
    assert task(lambda value: value + 1).execute(1) == 2
    assert await task(double).execute(21) == 42


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


@given(st.lists(st.sampled_from(TaskStatus)))
def test_its_status_makes_only_legal_moves(wishes: list[TaskStatus]) -> None:
    wished = task(double)
    for wish in wishes:
        before = wished.status
        if wish in TASK_MOVES[before]:
            wished.move(wish)
            assert wished.status is wish
        else:
            with pytest.raises(WorkerError) as error:
                wished.move(wish)
            assert error.value.code is WorkerErrorCode.ILLEGAL_TRANSITION
            assert wished.status is before


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
