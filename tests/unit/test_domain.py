"""The tables of states are complete: every state can reach an end, and no end can be left."""

from fairlane.domain.attempt import ATTEMPT_TRANSITIONS, AttemptState, Outcome
from fairlane.domain.task import TASK_TRANSITIONS, TaskRef, TaskState


def test_every_state_has_its_row() -> None:
    assert set(TASK_TRANSITIONS) == set(TaskState)
    assert set(ATTEMPT_TRANSITIONS) == set(AttemptState)


def test_every_state_is_reached_from_pending_and_every_path_can_end() -> None:
    reached = {TaskState.PENDING}
    while (more := reached.union(*(TASK_TRANSITIONS[state] for state in reached))) != reached:
        reached = more
    assert reached == set(TaskState)
    ends = {state for state in TaskState if state.ended}
    for state in set(TaskState) - ends:
        assert TASK_TRANSITIONS[state] & ends, f"{state} cannot end by itself"


def test_the_ends_are_the_ends() -> None:
    ended = {state.value for state in TaskState if state.ended}
    assert ended == {"completed", "failed", "rejected", "expired", "cancelled", "dead"}
    assert {state.value for state, moves in ATTEMPT_TRANSITIONS.items() if not moves} == {
        "completed", "throttled", "failed", "lost", "expired", "cancelled", "returned",
    }  # fmt: skip


def test_only_a_started_attempt_completes_fails_or_is_throttled() -> None:
    before = ATTEMPT_TRANSITIONS[AttemptState.ENQUEUED]
    ran = {AttemptState.COMPLETED, AttemptState.FAILED, AttemptState.THROTTLED}
    assert not before & ran
    assert ran <= ATTEMPT_TRANSITIONS[AttemptState.ACTIVE]


def test_no_task_completes_without_having_been_active() -> None:
    before = {state for state, moves in TASK_TRANSITIONS.items() if TaskState.COMPLETED in moves}
    assert before == {TaskState.ACTIVE}


def test_every_outcome_but_a_refusal_is_an_attempt_s_end() -> None:
    assert {outcome.value for outcome in Outcome} - {"refused"} <= {state.value for state in AttemptState}


def test_a_reference_is_ordered_and_shown_as_it_is_stored() -> None:
    assert str(TaskRef("a", "1")) == "a:1"
    assert TaskRef("a", "2") < TaskRef("b", "1")
