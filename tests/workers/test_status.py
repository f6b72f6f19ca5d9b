"""Where workers and tasks may go, and where not."""

from collections.abc import Mapping
from enum import StrEnum

import pytest
from hypothesis import given, strategies as st

from fairlane.workers.errors import WorkerError, WorkerErrorCode
from fairlane.workers.members.status import TASK_MOVES, WORKER_MOVES, TaskStatus, WorkerStatus, transition

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
            with pytest.raises(WorkerError, match=f"worker w is {now} and cannot become {wish}: only") as error:
                transition("worker w", WORKER_MOVES, now, wish)
            assert error.value.code is WorkerErrorCode.ILLEGAL_TRANSITION
            assert (error.value.context["now"], error.value.context["to"]) == (now, wish)


def test_where_nothing_may_follow_the_error_says_so() -> None:
    with pytest.raises(WorkerError, match="task t is completed and cannot become running: only nothing may follow"):
        transition("task t", TASK_MOVES, TaskStatus.COMPLETED, TaskStatus.RUNNING)
